"""CUDA C for kernels that Triton cannot express: compiled by the NVRTC that comes with PyTorch, launched by the driver.

No CUDA compiler is needed. Compiled code is kept in the user's cache folder.
"""

import ctypes
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch

MAX_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""


class CudaFunction:
    """A kernel that takes one struct by value."""

    def __init__(self, source: str, name: str, options: Sequence[str] = ()) -> None:
        # A context of the device has to be current before a module can be loaded into it.
        torch.empty(1, device="cuda")
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        image = _image(source, name, (*options, f"--gpu-architecture=sm_{_capability()}"))
        _driver("cuModuleLoadData", ctypes.byref(self._module), image)
        _driver("cuModuleGetFunction", ctypes.byref(self._function), self._module, name.encode())
        self._shared = 48 * 1024

    def launch(self, blocks: int, threads: int, shared: int, argument: ctypes.Structure) -> None:
        """Start the kernel on PyTorch's current stream."""
        if shared > self._shared:
            _driver("cuFuncSetAttribute", self._function, MAX_DYNAMIC_SHARED, shared)
            self._shared = shared
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        _driver("cuLaunchKernel", self._function, blocks, 1, 1, threads, 1, 1, shared, stream, arguments, None)


def shared_limit() -> int:
    """Bytes of on-chip memory that one block may have."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return int(getattr(properties, "shared_memory_per_block_optin", properties.shared_memory_per_block))


def _capability() -> str:
    major, minor = torch.cuda.get_device_capability()
    return f"{major}{minor}"


def _image(source: str, name: str, options: tuple[str, ...]) -> bytes:
    """The machine code: from the cache, or compiled and kept there."""
    key = hashlib.sha256("\0".join((source, *options, str(torch.version.cuda))).encode()).hexdigest()[:32]
    path = cache_folder() / f"{name}-{key}.cubin"
    try:
        return path.read_bytes()
    except OSError:
        image = compiled(source, name, options)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(image)
        part.replace(path)
    except OSError:
        pass  # compiled again next time
    return image


def cache_folder() -> Path:
    """Where compiled code is kept between calls."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dact"


def compiled(source: str, name: str, options: Sequence[str]) -> bytes:
    """Machine code of the source; the error has the compiler's log."""
    nvrtc, program, size = _nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    encoded = [option.encode() for option in options]
    _checked(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), f"{name}.cu".encode(), 0, None, None))
    failed = nvrtc.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
    if failed:
        _checked(nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
        log = ctypes.create_string_buffer(size.value)
        _checked(nvrtc.nvrtcGetProgramLog(program, log))
        raise RuntimeError(f"NVRTC cannot compile {name}: {log.value.decode(errors='replace')}")
    _checked(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    image = ctypes.create_string_buffer(size.value)
    _checked(nvrtc.nvrtcGetCUBIN(program, image))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return image.raw


def _checked(status: int) -> None:
    if status:
        raise RuntimeError(f"NVRTC failed with status {status}")


@cache
def _nvrtc() -> ctypes.CDLL:
    # PyTorch for CPUs has none; then any that is installed compiles, for tests.
    major = str(torch.version.cuda or "").split(".")[0]
    names = [f"libnvrtc.so.{major}", "libnvrtc.so", f"nvrtc64_{major}0_0.dll"]
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        names += [str(path) for path in sorted(Path(folder).glob(f"*/lib/libnvrtc.so.{major}*"))]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise RuntimeError(f"no NVRTC {major} was found, which comes with PyTorch for CUDA")


@cache
def _libcuda() -> ctypes.CDLL:
    return ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")


def _driver(call: str, *arguments: object) -> None:
    status = getattr(_libcuda(), call)(*arguments)
    if status:
        text = ctypes.c_char_p()
        _libcuda().cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{call} failed: {(text.value or b'unknown').decode()}")

"""Compile kernels for a Hopper GPU on a machine without one: launches are caught and only compiled.

Run as `python tests/kernels/offline.py GROUP`; needs Triton with its assembler, not in interpreter mode.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

OPTIONS = ("num_warps", "num_stages", "maxnreg")
NAMES = {
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.float32: "*fp32",
    torch.float64: "*fp64",
    torch.int32: "*i32",
    torch.int64: "*i64",
    torch.bool: "*i1",
    torch.int8: "*i8",
}


@dataclass(frozen=True)
class Report:
    """What the assembler says of a kernel."""

    name: str
    registers: int
    spilled_bytes: int
    shared_bytes: int
    instructions: int
    asm: Any


def compile_launch(kernel: JITFunction, args: tuple[Any, ...], options: dict[str, Any]) -> Report:
    """The kernel as this launch would compile it for compute capability 9.0."""
    settings = {name: options.pop(name) for name in OPTIONS if name in options}
    bound = dict(zip(kernel.arg_names, args, strict=False)) | options
    signature, constants, attributes = {}, {}, {}
    for place, parameter in enumerate(kernel.params):
        value = bound[parameter.name]
        if parameter.is_constexpr or value is None or (isinstance(value, int) and value in (0, 1) and value):
            signature[parameter.name], constants[parameter.name] = "constexpr", value
        elif isinstance(value, torch.Tensor):
            signature[parameter.name] = NAMES[value.dtype]
            attributes[(place,)] = [["tt.divisibility", 16]]
        else:
            signature[parameter.name] = "fp32" if isinstance(value, float) else "i32"
            if isinstance(value, int) and value % 16 == 0:
                attributes[(place,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constants, attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=settings)
    return _report(kernel.__name__, compiled)


def _report(name: str, compiled: Any) -> Report:
    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        cubin.write_bytes(compiled.asm["cubin"])
        usage = subprocess.run([tools / "cuobjdump", "-res-usage", cubin], capture_output=True, text=True).stdout
        sass = subprocess.run([tools / "cuobjdump", "-sass", cubin], capture_output=True, text=True).stdout
    registers, stack, local = (int(re.search(rf"{word}:(\d+)", usage)[1]) for word in ("REG", "STACK", "LOCAL"))
    instructions = len(re.findall(r"^\s+/\*[0-9a-f]{4,5}\*/", sass, re.MULTILINE))
    compiled.asm["sass"] = sass
    return Report(name, registers, stack + local, compiled.metadata.shared, instructions, compiled.asm)


@contextmanager
def caught_launches() -> Iterator[list[Report]]:
    """Inside, a launch compiles its kernel and adds to the list instead of running."""
    reports: list[Report] = []
    original = JITFunction.run

    def caught(self: JITFunction, *args: Any, grid: Any, warmup: bool, **options: Any) -> None:
        reports.append(compile_launch(self, args, dict(options)))

    JITFunction.run = caught
    try:
        yield reports
    finally:
        JITFunction.run = original

"""Arrays of .npz archives and .npy files, each no larger than its header says and no larger than the file allows."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dact.instances.errors import InputError, brief
from dact.instances.limits import check_unpacked

HEADER_BYTES = 2**14
"""Longest header of an array that is read."""


def load_arrays(content: bytes, keys: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the arrays of these names, as far as they are there, and the names of all."""
    # Corrupt files can fail anywhere in zipfile, zlib or numpy's header parser, with various exceptions.
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            wanted = {key: members[key] for key in keys if key in members}
            numbers = {key: _declared(archive, info) for key, info in wanted.items()}
            check_unpacked(sum(numbers.values()), len(content))
            return {key: _array(archive, info) for key, info in wanted.items()}, sorted(members)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"is not an .npz archive of plain arrays ({brief(error)})") from None


def load_array(content: bytes) -> NDArray[Any]:
    """Return the array of an .npy file."""
    try:
        _numbers(content[:HEADER_BYTES], len(content))
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:
        raise InputError(f"is not an .npy file of plain numbers ({brief(error)})") from None
    return array


def _declared(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Count the numbers of an array by its header."""
    # Other compression methods unpack whole blocks even if little is read.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"compression method {info.compress_type}")
    with archive.open(info) as stream:
        return _numbers(stream.read(HEADER_BYTES), info.file_size)


def _numbers(begun: bytes, size: int) -> int:
    """Count the numbers by the header of an array, which must agree with how many bytes there are."""
    head = io.BytesIO(begun)
    version = np.lib.format.read_magic(head)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read_header:
        raise ValueError(f"unknown version {version} of an array")
    shape, _, dtype = read_header[version](head)
    if dtype.hasobject:
        raise ValueError("an array of objects")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size - head.tell():
        raise ValueError(f"an array of shape {shape} in {size} bytes")
    return max(math.prod(shape), math.prod(shape) * dtype.itemsize // 8, *shape, 0)


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:  # noqa: ANN401 - whatever the archive holds
    with archive.open(info) as stream:
        return np.lib.format.read_array(io.BytesIO(stream.read()), allow_pickle=False)

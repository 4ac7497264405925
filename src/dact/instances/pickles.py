"""Safe reading of pickles of lists and numbers: no code is run, and time and memory are linear in the file's length.

Python's unpickler allocates memory for any memo index and any string length that a file claims, and dictionaries with
chosen keys take quadratic time. So all operations are checked first, and only harmless ones are allowed.
"""

from __future__ import annotations

import io
import pickle
from typing import NoReturn

from dact.instances.errors import InputError, brief, shown

ADMITTED = "only lists, tuples and numbers are admitted"
_PLAIN = b".()]lteaN01\x85\x86\x87\x88\x89\x94"
"""Operations of one byte: stop, marks, lists, tuples, None, True, False, memoize."""
_FIXED = {b"\x80": 2, b"\x95": 9, b"K": 2, b"M": 3, b"J": 5, b"G": 9, b"q": 2, b"h": 2, b"j": 5, b"r": 5}
"""Operations of fixed length: protocol, frame, integers, float, put and get."""
_COUNTED = {ord("\x8a"): 1, ord("\x8b"): 4, ord("\x8c"): 1, ord("X"): 4}
"""Operations with a length prefix, and its bytes: long integers and strings."""
_LINES = b"ILFVpg"
"""Operations of protocol 0, which end with a newline."""
_NAMES = b"ci\x93"
"""Operations that look up a global name: the unpickler refuses them by name."""

_LENGTHS = [0] * 256
for _code in _PLAIN:
    _LENGTHS[_code] = 1
for _key, _length in _FIXED.items():
    _LENGTHS[_key[0]] = _length
_STOP, _LONG_PUT, _LINE_PUT = ord("."), ord("r"), ord("p")


class _PlainUnpickler(pickle.Unpickler):
    """An unpickler that refuses global names."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise InputError(f"asks for {shown(f'{module}.{name}')}: {ADMITTED}")


def load_plain(content: bytes) -> object:
    """Return the lists, tuples and numbers of a pickle."""
    try:
        _check_operations(content)
        return _PlainUnpickler(io.BytesIO(content)).load()
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"is not a pickle of lists and numbers ({brief(error)})") from None


def _check_operations(content: bytes) -> None:
    """Check the operations up to the end, or to one that the unpickler refuses."""
    place, end, lengths = 0, len(content), _LENGTHS
    while place < end:
        code = content[place]
        length = lengths[code]
        if code == _STOP or code in _NAMES:
            return
        if code == _LONG_PUT:
            _check_number(int.from_bytes(content[place + 1 : place + 5], "little"), end)
        place += length or _varying(content, place, code)


def _varying(content: bytes, place: int, code: int) -> int:
    """Return the length of an operation of variable length."""
    if code in _LINES:
        stop = content.find(b"\n", place)
        if code == _LINE_PUT:
            digits = content[place + 1 : stop]
            _check_number(int(digits) if len(digits) < 20 else len(content) + 1, len(content))
        return len(content) if stop < 0 else stop + 1 - place
    if code in _COUNTED:
        width = _COUNTED[code]
        return 1 + width + int.from_bytes(content[place + 1 : place + 1 + width], "little")
    raise InputError(
        f"is not a pickle of lists and numbers: operation {shown(chr(code))} at byte {place}, but {ADMITTED}"
    )


def _check_number(number: int, most: int) -> None:
    """Refuse memo indices beyond the length of the file: pickle numbers memo entries consecutively."""
    if number > most:
        raise InputError(f"is not a pickle of lists and numbers: it remembers {number} objects in {most} bytes")

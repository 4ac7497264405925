"""Reading and writing files: failures become InputError, writes are atomic."""

from __future__ import annotations

import codecs
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from dact.instances.errors import InputError
from dact.instances.limits import MAX_SET_BYTES, MAX_TEXT_BYTES, check_lines


def read_bytes(path: Path, most: int = MAX_SET_BYTES) -> bytes:
    """Read a non-empty file of at most `most` bytes."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise InputError("is a folder, not a file")
        if not stat.S_ISREG(about.st_mode):
            raise InputError("is not a regular file")
        if about.st_size > most:
            raise InputError(f"is {about.st_size} bytes long, above the limit of {most}")
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError("does not exist") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})") from None
    except UnicodeEncodeError:
        raise InputError("has a name that this system's encoding does not have") from None
    if not content:
        raise InputError("is empty")
    return content


def read_text(path: Path, most: int = MAX_TEXT_BYTES) -> str:
    """Read a text file of at most `most` bytes: UTF-8, UTF-16 with a byte-order mark, otherwise Latin-1."""
    content = read_bytes(path, most)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            content = content.decode("utf-16").encode()
    if b"\0" in content:
        raise InputError("is a binary file, not text")
    check_lines(content)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def numbered_lines(text: str, ends: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, counted from 1, whatever ends a line, without white space (`ends`) around."""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if line.strip():
            yield number, line.strip(ends)


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write to a temporary file and rename it, so that no partial file is ever visible."""
    # Independent of the target's name, which may have the maximal length already.
    temporary = path.with_name(f".dact-{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with temporary.open("wb") as stream:
            write(stream)
        os.replace(temporary, path)
    except (OSError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name is not in this system's encoding"
        raise InputError(f"{path}: cannot be written ({reason})") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)

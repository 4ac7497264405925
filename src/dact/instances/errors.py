"""The exception and the warning of this package, and helpers for their messages."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """A file or a value that cannot be used; the message is one sentence that names it."""


class NoDemandsError(InputError):
    """A capacity or a demand unit for a file that takes none; without them it may be readable."""


class InputWarning(UserWarning):
    """A file that can be read but may not mean what its author intended."""


def caution(place: object, text: str) -> None:
    """Warn about a file in one sentence."""
    name = str(place)
    warnings.warn(InputWarning(f"{name if name.isprintable() else shown(name)}: {text}"), stacklevel=2)


def shown(value: object) -> str:
    """Show a value from a file on one line, control characters escaped and long text cut."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # An integer with thousands of digits, or deeply nested lists.
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def plural(count: int, word: str) -> str:
    """The word as it stands after a number."""
    return word if count == 1 else f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def brief(error: Exception) -> str:
    """The first line of an error message, or the error's type if it has none."""
    text = str(error).strip()
    return shown(text.splitlines()[0]).strip("'\"") if text else type(error).__name__


@contextmanager
def naming(place: object) -> Iterator[None]:
    """Put the place (a file, a line) in front of every InputError raised inside, which keeps its type."""
    try:
        yield
    except InputError as error:
        text = str(place)
        raise type(error)(f"{text if text.isprintable() else shown(text)}: {error}") from None

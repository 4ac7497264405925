"""The one exception of this package, and the place names that its messages carry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """A file or a value that cannot be used; the message is one sentence that names it."""


def shown(value: object) -> str:
    """Show a value from a file on one line, control characters escaped and long text cut."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # An integer of thousands of digits, or lists nested too deep to print.
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def brief(error: Exception) -> str:
    """Give the first line of a foreign error, or its type where it says nothing."""
    text = str(error).strip()
    return shown(text.splitlines()[0]).strip("'\"") if text else type(error).__name__


@contextmanager
def naming(place: object) -> Iterator[None]:
    """Put the place (a file, a line) in front of every InputError raised inside."""
    try:
        yield
    except InputError as error:
        text = str(place)
        raise InputError(f"{text if text.isprintable() else shown(text)}: {error}") from None

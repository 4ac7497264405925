"""Values that comments of a CSV file state, such as `# capacity: 50`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from dact.instances.cells import WORDS, Sheet
from dact.instances.errors import InputError, caution, naming, shown

Value = TypeVar("Value")
_STATED = re.compile(r"([^\W\d][\w -]{0,29}?)\s*[:=]\s*(.*)")
_NUMBER = re.compile(r"[-+.,\d]+")


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What comments say, by WORDS: the line and the text of each."""

    found: dict[str, tuple[int, str]]
    sheet: Sheet

    @classmethod
    def parse(cls, sheet: Sheet, path: Path) -> Stated:
        """Read all comments; warn about those that look like a setting and are none."""
        found: dict[str, tuple[int, str]] = {}
        for number, text in sheet.comments:
            if (match := _STATED.fullmatch(text)) is None:
                continue
            word = match[1].lower()
            if word in found:
                raise InputError(f"line {number}: the {word} is given twice")
            if word in WORDS:
                found[word] = number, match[2]
            elif (meant := get_close_matches(word, WORDS, n=1, cutoff=0.75)) or _NUMBER.fullmatch(match[2]):
                known = f"did you mean {meant[0]}?" if meant else f"comments can state {', '.join(WORDS)}"
                caution(path, f"line {number}: the comment {shown(text)} is not used: {known}")
        return cls(found=found, sheet=sheet)

    def parsed(self, word: str, parse: Callable[[str, str], Value]) -> Value | None:
        """The value after a word; None without one."""
        if word not in self.found:
            return None
        number, text = self.found[word]
        what = f"the number of {word}" if word == "vehicles" else f"the {word}"
        with naming(f"line {number}"):
            return parse(self.sheet.plain(what, text, comment=True), what)

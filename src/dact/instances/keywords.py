"""The keyword text of TSPLIB and CVRPLIB: 'KEY : value' fields and sections of rows.

vrplib reads these files too, but drops node ids and line numbers, knows two of the nine matrix formats and accepts
most mistakes; tests compare this parser with it on valid files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dact.instances.errors import InputError, naming, shown
from dact.instances.files import numbered_lines

_KEYWORD = re.compile(r"([A-Za-z][A-Za-z0-9_]*)\s*(?:(:)\s*(.*))?")

Row = tuple[int, str]


@dataclass(kw_only=True)
class Document:
    """Fields by upper-case keyword, and sections as numbered lines (tokens would take ten times the memory)."""

    fields: dict[str, str] = field(default_factory=dict)
    sections: dict[str, list[Row]] = field(default_factory=dict)

    def need(self, keyword: str) -> str:
        """Return a field that must be there."""
        if not self.fields.get(keyword):
            raise InputError(f"the field {keyword} is missing")
        return self.fields[keyword]

    def rows(self, section: str) -> list[Row]:
        """Return the rows of a section that must be there."""
        if section not in self.sections:
            raise InputError(f"the {section} is missing")
        return self.sections[section]


def parse_keywords(text: str) -> Document:
    """Split the text up to EOF (which may be missing) into fields and sections."""
    document = Document()
    comments: list[str] = []
    rows: list[Row] | None = None
    for number, line in numbered_lines(text):
        match = _KEYWORD.fullmatch(line)
        keyword = match[1].upper() if match else ""
        if keyword == "EOF":
            break
        with naming(f"line {number}"):
            if match and keyword.endswith("_SECTION"):
                rows = _open_section(document, keyword, match[3] or "")
            elif keyword == "COMMENT" and match and match[2]:
                comments.append(match[3])
            elif match and match[2]:
                _add_field(document, keyword, match[3])
            elif rows is not None:
                rows.append((number, line))
            elif not line.startswith("#"):
                raise InputError(f"{shown(line)} is not of the form 'KEY : value'")
    if comments:
        document.fields["COMMENT"] = " ".join(comments).strip()
    if not document.fields and not document.sections:
        raise InputError("holds no field and no section")
    return document


def _open_section(document: Document, keyword: str, value: str) -> list[Row]:
    if value:
        raise InputError(f"{keyword} is followed by {shown(value)}")
    if keyword in document.sections:
        raise InputError(f"the {keyword} is given twice")
    return document.sections.setdefault(keyword, [])


def _add_field(document: Document, keyword: str, value: str) -> None:
    if keyword in document.fields:
        raise InputError(f"the field {keyword} is given twice")
    document.fields[keyword] = value

"""Tables of pages that commands write."""

from collections.abc import Sequence


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; all columns but the first are aligned to the right."""
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)

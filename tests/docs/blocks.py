"""Code blocks of Markdown pages, and how to run them.

A fenced block is run by its language: `bash` (each line a command), `console` (lines after `$`, whose output is
compared but for numbers), `python` (one namespace for a page). `csv`, `toml` and `json` with a title are files for the
blocks that follow. A block after `<!-- not run: reason -->` is not run.
`<!-- with: my.vrp from examples/harbour60.vrp -->` gives a page a file under another name.
"""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUN = ("bash", "console", "python")
FILES = ("csv", "toml", "json")
PLAIN = ("", "text")
_FENCE = re.compile(r"^ *```(\w*) *(?:title=\"([^\"]+)\")?.*$")
_NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
_WITH = re.compile(r"<!-- with: (\S+) from (\S+) -->")
_NUMBER = re.compile(r"\d[\d,]*(\.\d+)?")
_CODE = re.compile(r"^(\$ |dact |python3? |pip |make |import |from \w+ import|torchrun )")

Command = Callable[[list[str]], tuple[int, str]]
"""Runs `dact` with arguments; returns the exit code and all that it printed."""


@dataclass
class Block:
    """Lines between two fences."""

    line: int
    language: str
    title: str
    reason: str
    """Why it is not run; empty if it is."""
    lines: list[str] = field(default_factory=list)


def pages() -> list[Path]:
    """All pages of the documentation, but for the log and files that commands write."""
    found = [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    return sorted(path for path in found if path.name != "log.md")


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page in order."""
    block, before = None, ""
    for number, line in enumerate(text.splitlines(), start=1):
        match = _FENCE.match(line)
        if match and block is None:
            reason = _NOT_RUN.search(before)
            block = Block(number, match[1], match[2] or "", reason[1] if reason else "")
        elif match and block is not None:
            yield block
            block = None
        elif block is not None:
            block.lines.append(line)
        before = line if line.strip() else before


def faults(text: str) -> list[str]:
    """What makes a page's code blocks unfit to be run."""
    found = []
    for block in blocks(text):
        known = (*RUN, *PLAIN, *FILES)
        if block.language not in known:
            found.append(f"line {block.line}: the language '{block.language}' is not one of {', '.join(known)}")
        if block.language in PLAIN and not block.reason and any(_CODE.match(line) for line in block.lines):
            found.append(f"line {block.line}: a block without a language holds commands")
        if block.language in FILES and not block.title and not block.reason:
            found.append(f"line {block.line}: a {block.language} block has no title to be written to")
    outside = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    found += [f"an indented block holds {line.strip()!r}" for line in outside.splitlines() if _indented_code(line)]
    return found


def _indented_code(line: str) -> bool:
    return line.startswith("    ") and bool(_CODE.match(line.strip()))


def prepare(text: str, folder: Path) -> None:
    """Lay out the files that the blocks of a page may use."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "configs", folder / "configs")
    for name, source in _WITH.findall(text):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, target)


def run(text: str, folder: Path, command: Command) -> int:
    """Run the blocks of a page in this folder, which is the current one; return how many commands and scripts ran."""
    space: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for block in blocks(text):
        if block.reason:
            continue
        if block.language in FILES:
            (folder / block.title).write_text("\n".join([*block.lines, ""]))
        elif block.language == "python":
            exec(compile("\n" * block.line + "\n".join(block.lines), "page", "exec"), space)
            count += 1
        elif block.language in RUN:
            count += _run_commands(block, folder, command)
    return count


def _run_commands(block: Block, folder: Path, command: Command) -> int:
    count = 0
    for line, expected in _commands(block):
        words = shlex.split(line, comments=True)
        assert words[0] == "dact", f"line {block.line}: {line!r} is not a command of dact; say why it is not run"
        target = words[words.index(">") + 1] if ">" in words else None
        code, printed = command(words[1 : words.index(">")] if target else words[1:])
        assert code == 0, f"{line}: exit code {code}, {printed}"
        if target:
            (folder / target).write_text(printed)
        elif block.language == "console":
            compare(line, expected, printed)
        count += 1
    return count


def _commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Commands with the output that is shown for them."""
    if block.language == "bash":
        yield from ((line, []) for line in block.lines if line.strip() and not line.startswith("#"))
        return
    starts = [place for place, line in enumerate(block.lines) if line.startswith("$ ")]
    for place, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        yield block.lines[place][2:], block.lines[place + 1 : end]


def compare(line: str, expected: list[str], printed: str) -> None:
    """Lines are alike but for numbers and spaces; a line of three dots stands for any number of them."""
    wanted, got = _shape("\n".join(expected)), _shape(printed)
    pattern = "\n".join(map(re.escape, wanted)).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, "\n".join(got), re.DOTALL), f"{line}: shown are {wanted}, but it prints {got}"


def _shape(text: str) -> list[str]:
    lines = (" ".join(_NUMBER.sub("0", line).split()) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("note: compiling")]

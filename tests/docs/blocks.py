"""Code blocks of Markdown pages, and how to run them.

A fenced block is run by its language: `bash` (each line a command), `console` (lines after `$`, whose output is
compared: see `outputs.py`), `python` (one namespace for a page). A `text` block after `<!-- prints -->` is what the
block before it prints. `csv`, `toml` and `json` with a title are files for the blocks that follow; where there is such
a file already, what it must be (three dots: and so on). A block after `<!-- not run: reason -->` is not run. A `bash`
block after `<!-- with: dact serve -->` is run by a shell, as a whole, while the page is served.
`<!-- with: my.vrp from examples/harbour60.vrp -->` gives a page a file under another name.
"""

import io
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from outputs import compare, same_text

ROOT = Path(__file__).parents[2]
RUN = ("bash", "console", "python")
FILES = ("csv", "toml", "json")
PLAIN = ("", "text")
_FENCE = re.compile(r"^ *```(\w*) *(?:title=\"([^\"]+)\")?.*$")
_NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
_WITH = re.compile(r"<!-- with: (\S+) from (\S+) -->")
_SERVED, _PRINTS = "<!-- with: dact serve -->", "<!-- prints -->"
PORT = "8017"
"""The port that pages name; they are run with another."""
_CODE = re.compile(r"^(\$ |dact |python3? |pip |make |import |from \w+ import|torchrun )")

Command = Callable[[list[str], bool], tuple[int, str]]
"""Runs `dact` with arguments, to the end if its output is shown; returns the exit code and all that it printed."""


@dataclass
class Block:
    """Lines between two fences."""

    line: int
    language: str
    title: str
    before: str
    """The last line before it."""
    lines: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """Why it is not run; empty if it is."""
        found = _NOT_RUN.search(self.before)
        return found[1] if found else ""

    @property
    def served(self) -> bool:
        """Is it a script that needs the page's server?"""
        return self.before == _SERVED


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
            block = Block(number, match[1], match[2] or "", before.strip())
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


def run(text: str, folder: Path, command: Command, port: int | None = None) -> int:
    """Run the blocks of a page in this folder, which is the current one; return how many commands and scripts ran.

    Scripts that need the page's server are left out without its port.
    """
    space: dict[str, object] = {"__name__": "__main__"}
    count, printed = 0, ""
    for block in blocks(text):
        if block.reason or (block.served and port is None):
            continue
        if block.language in FILES:
            _lay_out(block, folder)
        elif block.before == _PRINTS:
            compare(f"line {block.line}", block.lines, printed)
        elif block.language == "python":
            code = compile("\n" * block.line + "\n".join(block.lines), "page", "exec")
            with redirect_stdout(io.StringIO()) as stream:
                exec(code, space)
            printed = stream.getvalue()
            count += 1
        elif block.served:
            printed = _run_script(block, folder, port)
            count += 1
        elif block.language in RUN:
            count += _run_commands(block, folder, command)
    return count


def _lay_out(block: Block, folder: Path) -> None:
    """Write a file, or compare it with the one that is there."""
    path = folder / block.title
    if path.exists():
        same_text(block.title, block.lines, path.read_text())
    else:
        path.write_text("\n".join([*block.lines, ""]))


def _run_script(block: Block, folder: Path, port: int | None) -> str:
    """Run a block by a shell; return what it prints."""
    script = "\n".join(["set -euo pipefail", *block.lines]).replace(PORT, str(port))
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"line {block.line}: {done.stdout}{done.stderr}"
    return done.stdout


def _run_commands(block: Block, folder: Path, command: Command) -> int:
    count = 0
    for line, expected in _commands(block):
        words = shlex.split(line, comments=True)
        assert words[0] == "dact", f"line {block.line}: {line!r} is not a command of dact; say why it is not run"
        target = words[words.index(">") + 1] if ">" in words else None
        code, printed = command(words[1 : words.index(">")] if target else words[1:], block.language == "console")
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

"""`dact generate`: draws a set and writes it, with a progress bar where that takes long."""

import sys
from pathlib import Path

from dact.cli.screen import Bar, note
from dact.cli.targets import check_file
from dact.instances import facts_of, generate_set
from dact.instances.errors import plural
from dact.interrupts import INTERRUPTED, leaving_at_once

PATIENCE = 2.0
"""Seconds until there is a bar."""
DRAWING, CHECKING = 0.3, 0.9
"""What part of the work is done when everything is drawn, and checked."""


def generate_file(problem: str, size: int, count: int, seed: int, out: Path) -> int:
    """Draw and write a set, and return the exit code."""
    check_file("--out", out, (".npz",))

    def drawn(part: float) -> None:
        bar.show(DRAWING * part, "drawing" if part < 1 else "checking")

    written = False
    try:
        with leaving_at_once(), Bar(out.name, after=PATIENCE) as bar:
            instances = generate_set(problem, size, count, seed, drawn)
            bar.show(CHECKING, "writing")
            instances.save_npz(out)
            written = True
    except KeyboardInterrupt:
        if not written:
            note(f"interrupted: {out} was not written")
            return INTERRUPTED
    instances_of = f"{facts_of(problem).title} {plural(count, 'instance')} of size"
    print(f"{out}: {count} {instances_of} {size}, seed {seed}", file=sys.stderr)
    return 0

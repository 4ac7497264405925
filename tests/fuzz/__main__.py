"""`make fuzz MINUTES=10`: all checks in turn, with new seeds each time, until the time is over.

The first failure ends it, with the smallest example that Hypothesis finds and the seed that leads to it.
"""

import os
import shutil
import sys
import time
from collections import Counter

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"
    from interpreter import prepare

    prepare()

from fuzz.checks import reading, solving, solving_by_kernels
from fuzz.readers import formats


def main(minutes: float, number: int) -> None:
    """Print what was tried, and what became of it."""
    torch.set_num_threads(1)
    began = time.monotonic()
    checks = {form.name: (reading(form), 100) for form in formats()} | {"solver": (solving, 60)}
    if shutil.which("g++"):
        checks["solver, kernels"] = (solving_by_kernels, 6)
    counts: dict[str, Counter[str]] = {name: Counter() for name in checks}
    while time.monotonic() - began < 60 * minutes:
        for name, (check, examples) in checks.items():
            counts[name] += check(examples, number)
        number += 1
        print(f"{(time.monotonic() - began) / 60:5.1f} min, seed {number}", file=sys.stderr, flush=True)
    for name, found in counts.items():
        facts = ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.items()))
        print(f"{name:15} {found.total():8,}  {facts}")
    print(f"{'all':15} {sum(found.total() for found in counts.values()):8,}  no failure")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()))

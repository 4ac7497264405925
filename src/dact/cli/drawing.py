"""What `dact plot routes` and `dact plot trace` do."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dact.cli.inputs import InputRequest, read_inputs
from dact.cli.targets import INPUT, Named, check_apart, check_file
from dact.instances import InputError, Instance, Routes, check, read_solution
from dact.instances.arrays import LARGEST
from dact.instances.errors import naming, shown
from dact.instances.files import numbered_lines, read_text
from dact.plotting import FORMATS, Curve, save_plot, save_traces_plot

if TYPE_CHECKING:
    from dact.search import Trace


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A solution from a file, without steps or a trace."""

    instance: Instance
    routes: Routes
    cost: float
    steps: int = 0
    trace: "Trace" = ()

    @property
    def gap(self) -> float | None:
        """Percent above the best known value; None without one."""
        return self.instance.gap(self.cost)


def draw_routes(request: InputRequest, solution: Path, out: Path | None) -> None:
    """Check a solution against its instance and draw it."""
    inputs = read_inputs(request)
    members = inputs.instances
    if len(members) > 1:
        raise InputError(f"{request.files[0]} holds {len(members)} instances, and a solution is one of them")
    routes = read_solution(solution, members[0])
    target = _target(out, solution, [*inputs.sources, (INPUT, solution)])
    save_plot(Drawn(instance=members[0], routes=routes, cost=check(members[0], routes).cost), target)
    print(target, file=sys.stderr)


def draw_traces(files: Sequence[Path], out: Path | None, *, by_steps: bool) -> None:
    """Draw the traces of all answers in the files."""
    curves = [curve for file in files for curve in read_curves(file)]
    target = _target(out, files[0], [(INPUT, file) for file in files])
    save_traces_plot(curves, target, by_steps=by_steps)
    print(target, file=sys.stderr)


def read_curves(path: Path) -> list[Curve]:
    """Read the traces in the lines that `dact solve --json` prints."""
    with naming(path):
        curves = []
        for number, line in numbered_lines(read_text(path)):
            with naming(f"line {number}"):
                curves.append(_curve(line))
        if not curves:
            raise InputError("holds no answers of `dact solve --json`")
        return curves


def _curve(line: str) -> Curve:
    try:
        answer: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{shown(line)} is not JSON") from None
    trace = answer.get("trace") if isinstance(answer, dict) else None
    if not isinstance(trace, list) or not trace:
        raise InputError("has no list 'trace': it is not an answer of `dact solve --json`")
    points = [_numbers(point, 3) for point in trace]
    end = _numbers([answer.get("steps"), answer.get("seconds")], 2)
    best = answer.get("best_known")

    from dact.search import TracePoint

    return Curve(
        name=str(answer.get("name", "")),
        trace=tuple(TracePoint(*point) for point in points),
        steps=end[0],
        seconds=end[1],
        best_known=None if best is None else _numbers([best], 1)[0],
    )


def _numbers(values: object, count: int) -> list[Any]:
    numbers = values if isinstance(values, list) else []
    good = all(
        isinstance(each, int | float) and not isinstance(each, bool) and abs(each) <= LARGEST for each in numbers
    )
    if len(numbers) != count or not good:
        raise InputError(f"{shown(values)} is not {count} number{'s' if count > 1 else ''} up to {LARGEST:g}")
    return numbers


def _target(out: Path | None, named_like: Path, read: Iterable[Named]) -> Path:
    target = out or named_like.with_suffix(".png")
    check_file("--out", target, FORMATS)
    check_apart([("--out", target)], read)
    return target

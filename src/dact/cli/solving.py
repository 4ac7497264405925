"""`dact solve`: files in, answers out, one by one as they are found."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from os.path import exists
from pathlib import Path
from typing import Any

from dact.cli.inputs import Inputs, Request, read_inputs
from dact.cli.saving import Saver
from dact.cli.screen import FAILED, Bar, note, show_table
from dact.cli.targets import plot_targets, solution_targets
from dact.instances import InputError, Instance, Start, facts_of, read_start, write_solution
from dact.interrupts import INTERRUPTED, Interrupts
from dact.kernels.descent import needs_compiling
from dact.pipeline import STARTS, SolveConfig
from dact.plotting import cost_text, save_plot, whole_costs
from dact.policy.weights import UNTRAINED
from dact.search import Snapshot
from dact.solver import Plan, Result

COLUMNS = ("instance", "nodes", "start", "cost", "improved", "gap", "routes", "steps", "seconds")

SHOWN = 20
"""Names in a message."""


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where the answers go."""

    out: Path | None
    plot: Path | None
    as_json: bool


def solve_files(request: Request, config: SolveConfig, outputs: Outputs) -> int:
    """Read everything, check everything, then search; return the exit code."""
    inputs = read_inputs(request)
    instances = inputs.instances
    start = _given_start(request.start, instances)
    config = config if start is not None else replace(config, start=request.start)
    solutions, plots = solution_targets(outputs.out, instances), plot_targets(outputs.plot, instances)
    results: dict[int, Result] = {}
    saver = Saver()
    with Interrupts() as interrupts:
        plan: Plan | None = None
        try:
            plan = Plan(instances, config, start)
            _announce_untrained(plan)
            _announce_compiling(config)
            for place, result in _search(plan, instances, interrupts):
                with interrupts.held_off():
                    results[place] = result
                    writers = _writers(result, place, solutions, plots)
                    saver.save(place, json.dumps(record(result)), writers, as_json=outputs.as_json)
        except KeyboardInterrupt:
            # A second signal, where the first was still waiting to be obeyed.
            interrupts.asked = True
        finally:
            saver.close()
            if results:
                show_table(COLUMNS, [_row(results[place]) for place in sorted(results)])
    faults = _say_faults(results.values()) + _say_unread(inputs) + _say_unreached(plan)
    if interrupts.asked:
        _say_interrupted(instances, results)
        return INTERRUPTED
    return FAILED if faults or saver.failed else 0


def record(result: Result) -> dict[str, Any]:
    """The JSON object of an answer: nodes by their ids in the file, customers by their numbers."""
    instance = result.instance

    def number(cost: float | None) -> float | int | None:
        whole = cost is not None and whole_costs(instance) and cost.is_integer()
        return int(cost) if whole and cost is not None else cost

    routes = [[instance.number(index) for index in route] for route in result.routes]
    return {
        "name": instance.name,
        "problem": instance.problem,
        "nodes": instance.size,
        "cost": number(result.cost),
        "start_cost": number(result.start_cost),
        "gap": result.gap,
        "best_known": number(instance.best_known),
        "feasible": result.feasible,
        "steps": result.steps,
        "seconds": round(result.seconds, 3),
        "seed": result.seed,
        "search": result.search,
        "local_optimum": result.local_optimum,
        "weights": result.weights,
        **({"routes": routes} if instance.facts.depot else {"tour": routes[0]}),
        **(
            {"names": [[instance.title(index) for index in route] for route in result.routes]} if instance.names else {}
        ),
    }


def _search(plan: Plan, instances: list[Instance], interrupts: Interrupts) -> Iterator[tuple[int, Result]]:
    """Results by the places of their instances, under a progress bar."""
    with Bar(instances[0].name) as bar:

        def watch(seen: Snapshot) -> None:
            bar.show(seen.fraction, f"step {seen.steps:,}  best {seen.cost:,.6g}")
            interrupts.obey()

        for count, found in enumerate(plan.results(watch), start=1):
            yield found
            bar.show(0.0, "", title=f"{count} of {len(instances)} solved")


def _writers(
    result: Result, place: int, solutions: list[Path] | None, plots: list[Path] | None
) -> dict[Path, Callable[[Path], None]]:
    """How each file of an answer is written."""
    writers: dict[Path, Callable[[Path], None]] = {}
    if solutions is not None:
        writers[solutions[place]] = lambda path: write_solution(path, result.instance, result.routes, result.cost)
    if plots is not None:
        writers[plots[place]] = lambda path: save_plot(result, path)
    return writers


def _say_faults(results: Iterable[Result]) -> int:
    """Name the instances whose search went wrong; return how many there are."""
    faults = [result for result in results if result.fault]
    for result in faults:
        text = f"{result.instance.name}: the search gave a tour that is no solution ({result.fault})"
        note(f"error of DACT, please report it: {text}; the answer given is the best feasible one instead")
    return len(faults)


def _say_unreached(plan: Plan | None) -> int:
    """Name the instances for which there are too few vehicles, as far as we found; return how many there are."""
    reasons = plan.unreached.values() if plan else ()
    for reason in reasons:
        note(f"error: {reason}")
    return len(reasons)


def _say_unread(inputs: Inputs) -> int:
    """Say what is wrong with files that could not be read; return how many there are."""
    for fault in inputs.faults:
        note(f"error: {' '.join(str(fault).split())}")
    if inputs.faults:
        note(f"{len(inputs.faults)} of the files could not be read")
    return len(inputs.faults)


def _say_interrupted(instances: list[Instance], results: dict[int, Result]) -> None:
    waiting = [
        instance.name for place, instance in enumerate(instances) if place not in results or not results[place].steps
    ]
    note("interrupted: these are the best solutions so far")
    if waiting:
        others = f" and {len(waiting) - SHOWN} others" if len(waiting) > SHOWN else ""
        note(f"not begun, so that an answer is only a start: {', '.join(waiting[:SHOWN])}{others}")


def _given_start(start: str, instances: list[Instance]) -> Start | None:
    """The start that a file gives, mended where it has to be; None where the start is made."""
    if start in STARTS:
        return None
    path = Path(start)
    if not path.suffix and not exists(path):
        raise InputError(f"start '{start}' is neither {' nor '.join(STARTS)} nor a solution file")
    if len(instances) > 1:
        raise InputError(f"the start {path} goes with one instance, but {len(instances)} are solved")
    given = read_start(path, instances[0])
    for repair in given.repairs:
        note(f"{path}: {repair}")
    return given


def _announce_compiling(config: SolveConfig) -> None:
    if config.search == "hybrid" and needs_compiling(config.torch_device()):
        note("note: compiling the local search for this machine, once; it takes some 20 seconds")


def _announce_untrained(plan: Plan) -> None:
    for problem in sorted({card.problem for card in plan.cards() if card.name == UNTRAINED}):
        note(f"note: the policy for {facts_of(problem).title} is untrained (random weights), so expect little from it")


def _row(result: Result) -> tuple[str, ...]:
    instance = result.instance
    return (
        instance.name,
        str(instance.size),
        cost_text(instance, result.start_cost),
        cost_text(instance, result.cost),
        f"{100 * (1 - result.cost / result.start_cost):.1f} %" if result.start_cost else "-",
        "-" if result.gap is None else f"{result.gap:.2f} %",
        str(len(result.routes)),
        str(result.steps),
        f"{result.seconds:.1f}",
    )

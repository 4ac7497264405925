"""`dact solve`: instances in, answers out, one by one as they are found."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dact.cards import UNTRAINED
from dact.cli.compiling import compile_first
from dact.cli.desk import Desk
from dact.cli.inputs import Inputs
from dact.cli.screen import FAILED, Bar, note
from dact.instances import Instance, facts_of
from dact.interrupts import INTERRUPTED, Interrupts
from dact.pipeline import SolveConfig
from dact.plotting import Film
from dact.search import Snapshot
from dact.solver import Plan, Result

SHOWN = 20
"""Names in a message."""


def solve_inputs(inputs: Inputs, config: SolveConfig, desk: Desk) -> int:
    """Search, hand the results to the desk, and return the exit code."""
    instances, start, seeds = inputs.instances, inputs.start, desk.seeds
    replace(config, seed=config.seed + seeds - 1)
    desk.go_on(f"{config}|{start}")
    done, unreached, complete = set(desk.entries), dict[int, str](), False
    with Interrupts() as interrupts:
        try:
            for number in range(seeds):
                seeded, skip = replace(config, seed=config.seed + number), {*done, *unreached}
                plan = Plan(instances, seeded, start, skip=skip, one_by_one=desk.films is not None)
                if number == 0:
                    _announce_weights(plan)
                    compile_first(config, interrupts)
                for place, result, film in _search(plan, instances, interrupts, filmed=desk.films is not None):
                    with interrupts.held_off():
                        desk.take(place, result, last=number == seeds - 1, film=film)
                unreached |= plan.unreached
                interrupts.obey()
            complete = True
        except KeyboardInterrupt:
            # A search that was cut short has handed over what it found; or a second signal came.
            interrupts.asked = True
        finally:
            with interrupts.held_off():
                desk.close(complete=complete)
        with interrupts.held_off():
            if config.hybrid.walks > 1:
                _say_walks([runs.best for runs in desk.runs.values()])
            return _report(inputs, desk, unreached, interrupted=interrupts.asked)


def _report(inputs: Inputs, desk: Desk, unreached: dict[int, str], *, interrupted: bool) -> int:
    """Print what went wrong, and return the exit code."""
    faults = _say_faults(result for runs in desk.runs.values() for result in runs.results)
    faults += _say_unread(inputs) + _say_unreached(unreached)
    if interrupted:
        waiting = [each.name for place, each in enumerate(inputs.instances) if place not in desk.entries]
        _say_interrupted(waiting, searched=len(waiting) < len(inputs.instances))
        return INTERRUPTED
    return FAILED if faults or desk.failed else 0


def _search(
    plan: Plan, instances: list[Instance], interrupts: Interrupts, *, filmed: bool
) -> Iterator[tuple[int, Result, Film | None]]:
    """Results by the places of their instances, with films of the searches if asked for, under a progress bar."""
    film = Film() if filmed else None
    with Bar(instances[0].name) as bar:

        def watch(seen: Snapshot) -> None:
            bar.show(seen.fraction, f"step {seen.steps:,}  best {seen.cost:,.6g}")
            if film is not None:
                film(seen)
            interrupts.obey()

        for count, (place, result) in enumerate(plan.results(watch), start=1):
            yield place, result, film
            film = Film() if filmed else None
            bar.show(0.0, "", title=f"{count} of {len(instances)} solved")


def _say_walks(results: list[Result]) -> None:
    """How different the walks were that somebody asked for."""
    for result in results[:SHOWN]:
        note(
            f"{result.instance.name}: {result.walks} walks, whose last tours differ from the answer in "
            f"{result.walks_apart:.0%} of their legs"
        )


def _say_faults(results: Iterable[Result]) -> int:
    """Name the instances whose search went wrong; return how many there are."""
    faults = [result for result in results if result.fault]
    for result in faults:
        text = f"{result.instance.name}: the search gave a tour that is no solution ({result.fault})"
        note(f"error of DACT, please report it: {text}; the answer given is the best feasible one instead")
    return len(faults)


def _say_unreached(unreached: dict[int, str]) -> int:
    """Name the instances for which there are too few vehicles, as far as we found; return how many there are."""
    for reason in unreached.values():
        note(f"error: {reason}")
    return len(unreached)


def _say_unread(inputs: Inputs) -> int:
    """Say what is wrong with files that could not be read; return how many there are."""
    for fault in inputs.faults:
        note(f"error: {' '.join(str(fault).split())}")
    if inputs.faults:
        note(f"{len(inputs.faults)} of the files could not be read")
    return len(inputs.faults)


def _say_interrupted(waiting: list[str], *, searched: bool) -> None:
    note(f"interrupted: {'these are the best solutions so far' if searched else 'nothing had been searched'}")
    if waiting:
        others = f" and {len(waiting) - SHOWN} others" if len(waiting) > SHOWN else ""
        note(f"not begun, and so without an answer: {', '.join(waiting[:SHOWN])}{others}")


def _announce_weights(plan: Plan) -> None:
    """Say which weights are not trained, or for much smaller instances."""
    for problem in sorted({card.problem for card in plan.cards() if card.name == UNTRAINED}):
        note(f"note: the policy for {facts_of(problem).title} is untrained (random weights), so expect little from it")
    if found := plan.outgrown():
        instance, card = found
        trained = f"the policy (weights {card.name}) was trained on at most {card.largest:,} nodes"
        better = "--search hybrid is meant for such sizes"
        note(f"note: {instance.name} has {instance.size:,} nodes, but {trained}: {better}")

"""The properties that are fuzzed, each for as many examples as the caller wants."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from dact import solve
from dact.instances import InputError, Instance, read_solution, write_solution
from dact.problems import FleetError
from fuzz.accounts import assert_solves
from fuzz.engines import gpu_forms, limited
from fuzz.oddities import given_routes, instances, settings_of_a_solve
from fuzz.readers import Format

SHRINK = Path(sys.argv[0]).parent.name == "fuzz"
"""Look for the smallest example that fails, which takes minutes; the short form does without."""
Check = Callable[[int, int], Counter[str]]
"""From a number of examples and a seed to what became of them."""


def reading(form: Format) -> Check:
    """Spoiled files of a format are read or refused in one line."""

    def run(examples: int, number: int) -> Counter[str]:
        counts: Counter[str] = Counter()

        @_quietly(examples, number)
        @given(form.spoiled())
        def survives(content: bytes) -> None:
            form.survives(content, counts)

        survives()
        return counts

    return run


def solving_by_kernels(examples: int, number: int) -> Counter[str]:
    """The same by what a GPU would run."""
    with gpu_forms():
        return solving(examples, number, limited)


def solving(
    examples: int, number: int, settle: Callable[[dict[str, object]], dict[str, object]] = lambda asked: asked
) -> Counter[str]:
    """Answers to odd instances are feasible, cost what they say, are no worse than their start, and can be kept."""
    counts: Counter[str] = Counter()

    @_quietly(examples, number)
    @given(instances(), settings_of_a_solve(), st.data())
    def solved(instance: Instance, asked: dict[str, object], data: st.DataObject) -> None:
        asked = settle(asked)
        begun = data.draw(given_routes(instance))
        try:
            result = solve(instance, start_routes=begun, **asked)
        except InputError as error:
            if "add up to" not in str(error):
                raise
            counts["refused"] += 1
            return
        except FleetError:
            # Whether so few vehicles can do is as hard as packing.
            counts["no routes for so few vehicles"] += 1
            return
        for kind, there in (
            ("by vehicles", instance.vehicles),
            ("asymmetric", not instance.symmetric),
            ("from a given start", begun),
        ):
            counts[f"of these {kind}"] += bool(there)
        assert result.feasible
        assert not result.fault
        assert result.cost <= result.start_cost
        assert_solves(instance, result.routes, result.cost)
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"a{instance.facts.suffix}"
            write_solution(path, instance, result.routes, result.cost)
            again = solve(instance, start_routes=read_solution(path, instance), **asked)
        assert again.cost <= result.cost
        assert_solves(instance, again.routes, again.cost)
        counts[f"solved {instance.problem} by {asked['search']}"] += 1

    solved()
    return counts


def _quietly(examples: int, number: int) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def wrap(function: Callable[[], None]) -> Callable[[], None]:
        limits = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink) if SHRINK else (Phase.generate,),
        )
        return seed(number)(limits(function))

    return wrap

"""`dact bench search` and `dact bench precision`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dact.bench import (
    PAIRED_SIZES,
    QUICK_SEARCH_CASES,
    SEARCH_CASES,
    Comparison,
    SearchCase,
    SearchTiming,
    compare,
    measure_search,
    paired_sets,
    with_file,
)
from dact.cli.bench_rows import check_rows, keep_row
from dact.cli.screen import Bar, note, show_table
from dact.instances import InputError, read
from dact.pipeline import SolveConfig

COLUMNS = (
    *("case", "positions", "rows", "engine", "p20 ms", "p50 ms", "p80 ms"),
    *("instance-steps/s", "authors", "times faster", "GiB", "cost error"),
)
PAIR_COLUMNS = ("instances", "count", "one", "other", "mean", "mean", "difference", "error", "percent", "alike")
QUICK_SECONDS = 0.05
QUICK_SIZES = (("tsp", 10), ("cvrp", 10))
QUICK_COUNT, QUICK_STEPS = 12, 20


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """What to time."""

    only: tuple[str, ...]
    file: Path | None
    quick: bool

    def cases(self) -> list[SearchCase]:
        """The cases asked for, each known by its name."""
        cases: Sequence[SearchCase] = QUICK_SEARCH_CASES if self.quick else SEARCH_CASES
        if self.file is not None:
            cases = with_file(cases, replace(read(self.file), name=self.file.stem))
        known = {case.name: case for case in cases}
        for name in self.only:
            if name not in known:
                raise InputError(f"case '{name}' is not one of {', '.join(known)}")
        return [known[name] for name in self.only or known]


def bench_search(request: SearchRequest, config: SolveConfig, out: Path | None, *, as_json: bool) -> None:
    """Measure, print, and append rows where asked."""
    _check(out, SearchTiming, config, request.quick)
    timings: list[SearchTiming] = []
    cases = request.cases()
    for timing in _under_bar(cases, config, QUICK_SECONDS if request.quick else 1.0):
        timings.append(timing)
        keep_row(timing, out, as_json=as_json)
    note(f"a search step on {timings[0].device} in {timings[0].precision}; the authors' code on one H200")
    show_table(COLUMNS, [_row(timing) for timing in timings])


def bench_precision(
    one: SolveConfig, against: str, count: int, out: Path | None, *, quick: bool, as_json: bool
) -> None:
    """Solve the same instances in two precisions and print the differences.

    Without a GPU there is only one precision, and two seeds are compared instead.
    """
    _check(out, Comparison, one, quick)
    if quick:
        count, one = QUICK_COUNT, replace(one, steps=QUICK_STEPS)
    if count < 2:
        raise InputError(f"count {count} is below 2")
    alone = one.torch_device().type == "cpu"
    other = replace(one, seed=one.seed + 1) if alone else replace(one, precision=against)
    found: list[Comparison] = []
    with Bar("precision") as bar:
        sets = paired_sets(QUICK_SIZES if quick else PAIRED_SIZES, count)
        for each in compare(sets, one, other, lambda done, cost: bar.show(done, f"mean of these {cost:,.6g}")):
            found.append(each)
            keep_row(each, out, as_json=as_json)
    show_table(PAIR_COLUMNS, [_pair_row(each) for each in found])


def _check(out: Path | None, kind: type[SearchTiming | Comparison], config: SolveConfig, quick: bool) -> None:
    check_rows(out, kind)
    if config.torch_device().type == "cpu" and not quick:
        raise InputError("these workloads take hours without a GPU: add --quick for tiny ones")


def _under_bar(cases: Sequence[SearchCase], config: SolveConfig, seconds: float) -> Iterator[SearchTiming]:
    with Bar(cases[0].name) as bar:
        for place, timing in enumerate(measure_search(cases, config, seconds=seconds), start=1):
            following = cases[place].name if place < len(cases) else ""
            bar.show(place / len(cases), f"{timing.case}: {timing.p50_ms:g} ms", title=following)
            yield timing


def _row(timing: SearchTiming) -> tuple[str, ...]:
    return (
        timing.case,
        str(timing.positions),
        f"{timing.rows:,}",
        timing.engine,
        *(f"{ms:.3f}" for ms in (timing.p20_ms, timing.p50_ms, timing.p80_ms)),
        f"{timing.per_s:,.0f}",
        "-" if timing.authors_per_s is None else f"{timing.authors_per_s:,.0f}",
        "-" if timing.times_faster is None else f"{timing.times_faster:.1f}",
        f"{timing.memory_gib:.2f}",
        f"{timing.cost_error:.1e}",
    )


def _pair_row(each: Comparison) -> tuple[str, ...]:
    return (
        each.instances,
        f"{each.count:,}",
        each.one,
        each.other,
        *(f"{cost:.5f}" for cost in (each.mean_one, each.mean_other)),
        *(f"{value:.5f}" for value in (each.difference, each.standard_error)),
        f"{each.percent:.3f}",
        "yes" if each.alike else "no",
    )

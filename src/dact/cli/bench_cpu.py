"""`dact bench cpu`."""

from pathlib import Path

from dact.bench import CASES, Timing, cpu_name, measure_cpu
from dact.cli.bench_rows import check_rows, keep_row
from dact.cli.screen import note, show_table
from dact.instances import InputError

COLUMNS = ("case", "threads", "p20 ms", "p50 ms", "p80 ms", "authors ms", "times faster")


def bench_on_cpu(threads: int | None, out: Path | None, *, as_json: bool) -> None:
    """Measure, print, and append rows where asked."""
    if threads is not None and threads < 1:
        raise InputError(f"threads {threads} is below 1")
    check_rows(out, Timing)
    timings = []
    for timing in measure_cpu(CASES, threads):
        timings.append(timing)
        keep_row(timing, out, as_json=as_json)
    note(f"milliseconds per step on {cpu_name()}; the authors' code on two idle EPYC cores")
    show_table(COLUMNS, [_row(timing) for timing in timings])


def _row(timing: Timing) -> tuple[str, ...]:
    times = (timing.p20_ms, timing.p50_ms, timing.p80_ms)
    return (
        f"{timing.problem}{timing.size} x {timing.rows}",
        str(timing.threads),
        *(f"{ms:.2f}" for ms in times),
        f"{timing.authors_ms:g}",
        f"{timing.times_faster:.1f}",
    )

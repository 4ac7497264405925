"""`dact bench cpu`."""

import json
from dataclasses import asdict
from pathlib import Path

from dact.bench import CASES, Timing, append_rows, check_columns, cpu_name, measure_cpu
from dact.cli.screen import emit, note, show_table
from dact.cli.targets import check_file
from dact.instances import InputError

COLUMNS = ("case", "threads", "p20 ms", "p50 ms", "p80 ms", "authors ms", "times faster")


def bench_on_cpu(threads: int | None, out: Path | None, *, as_json: bool) -> None:
    """Measure, print, and append rows where asked."""
    if threads is not None and threads < 1:
        raise InputError(f"threads {threads} is below 1")
    if out is not None:
        check_file("--out", out, (".csv",))
        check_columns(out, Timing)
    timings = []
    for timing in measure_cpu(CASES, threads):
        timings.append(timing)
        if as_json:
            emit(json.dumps(asdict(timing)))
    note(f"milliseconds per step on {cpu_name()}; the authors' code on two idle EPYC cores")
    show_table(COLUMNS, [_row(timing) for timing in timings])
    if out is not None:
        append_rows(out, timings)


def _row(timing: Timing) -> tuple[str, ...]:
    times = (timing.p20_ms, timing.p50_ms, timing.p80_ms)
    return (
        f"{timing.problem}{timing.size} x {timing.rows}",
        str(timing.threads),
        *(f"{ms:.2f}" for ms in times),
        f"{timing.authors_ms:g}",
        f"{timing.times_faster:.1f}",
    )

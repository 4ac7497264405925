"""`dact reproduce`: a name in, files out."""

import json
from pathlib import Path

from dact.cli.screen import FAILED, Bar, emit, note
from dact.cli.targets import check_folder
from dact.interrupts import INTERRUPTED, Interrupts
from dact.reproduce import STUDIES, Request, ShardDone, Study, find_study, reproduce


def list_studies(*, as_json: bool) -> int:
    """List the studies and their requirements; return the exit code."""
    from dact.cli.screen import show_table

    printed = True
    for study in STUDIES.values() if as_json else ():
        facts = {"name": study.name, "what": study.what, "where": study.where, "needs": study.needs}
        minutes = {"gpu_minutes": study.gpu_minutes, "training_minutes": study.training_minutes}
        printed &= emit(json.dumps({**facts, **minutes, "quick": study.quick}))
    rows = [
        (study.name, study.where, _minutes(study.gpu_minutes), _minutes(study.training_minutes), study.what)
        for study in STUDIES.values()
    ]
    show_table(("name", "in the paper", "GPU minutes", "with --train", "what"), rows, texts=5)
    return 0 if printed else FAILED


def reproduce_one(name: str, request: Request, *, as_json: bool) -> int:
    """Make a study, print its files and what is missing, and return the exit code."""
    from dataclasses import replace

    missing: tuple[str, ...] = ()
    paths: list[Path] = []
    study = find_study(name)
    study.check(request)
    check_folder("--out", request.out)
    if not request.quick:
        _announce(study, request)
    interrupts = Interrupts()
    try:
        with interrupts, Bar(name) as bar:

            def progress(fraction: float, detail: str) -> None:
                bar.show(fraction, detail)
                interrupts.obey()

            outcome, paths = reproduce(name, replace(request, progress=progress))
            missing = outcome.missing
    except ShardDone as done:
        note(f"{name}: {done}")
    except KeyboardInterrupt:
        note(f"interrupted: {request.out / 'runs'} keeps what was finished, and the same command goes on from there")
        return INTERRUPTED
    for sentence in missing:
        note(f"missing: {sentence}")
    for path in paths:
        note(str(path))
    if as_json and not emit(json.dumps({"name": name, "files": [str(path) for path in paths], "missing": missing})):
        return FAILED
    return 0


def _announce(study: Study, request: Request) -> None:
    """How long it takes and what it needs, unless a CPU does it in seconds."""
    searches, training = study.minutes(request), study.training_minutes if request.train else 0.0
    parts = [f"about {_minutes(searches)} min"] if searches else []
    parts += [f"up to {_minutes(training)} min of training"] if training else []
    if parts:
        note(f"{study.name}: {' and '.join(parts)} on one H200; needs: {study.needs}")


def _minutes(minutes: float) -> str:
    return f"{minutes:g}" if minutes else "none"

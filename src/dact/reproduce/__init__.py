"""Tables and figures of the paper, each under a name. To add one: its file with a STUDY, a line in STUDIES."""

from pathlib import Path

from dact.instances import InputError
from dact.reproduce import (
    aspects,
    attention,
    correlations,
    curriculum,
    encoding,
    gray_code,
    libraries,
    main_table,
    operators,
    sizes,
    stability,
)
from dact.reproduce.base import DEFAULT_MODELS, NeedsError, Outcome, Picture, Request, ShardDone, Study, Table
from dact.reproduce.models import MODELS
from dact.reproduce.writing import write

ORDER = (
    *(main_table, libraries, sizes, aspects, curriculum, stability),
    *(operators, encoding, gray_code, attention, correlations),
)
STUDIES: dict[str, Study] = {each.STUDY.name: each.STUDY for each in ORDER}


def find_study(name: str) -> Study:
    """The study of this name; InputError lists the known names."""
    if name not in STUDIES:
        raise InputError(f"'{name}' is not one of {', '.join(STUDIES)}")
    return STUDIES[name]


def reproduce(name: str, request: Request) -> tuple[Outcome, list[Path]]:
    """Make a table or figure and write its files; NeedsError if a required input is missing, ShardDone if only a shard
    of its searches was asked for."""
    study = find_study(name)
    study.check(request)
    outcome = study.make(request)
    return outcome, write(study, request, outcome)


__all__ = [
    "DEFAULT_MODELS",
    "MODELS",
    "STUDIES",
    "NeedsError",
    "Outcome",
    "Picture",
    "Request",
    "ShardDone",
    "Study",
    "Table",
    "find_study",
    "reproduce",
]

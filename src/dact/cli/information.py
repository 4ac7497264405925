"""`dact info`: versions, devices, weights."""

import json
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from dact import __version__
from dact.cli.screen import emit, note, show_table
from dact.instances import facts_of
from dact.policy import Card, read_card, shipped

PACKAGES = ("torch", "numpy", "triton")
COLUMNS = ("weights", "problem", "size", "gap", "date")


def show_info(*, as_json: bool) -> None:
    """Print versions, devices, and the shipped weights with their quality."""
    cards = sorted((read_card(path) for path in shipped()), key=lambda card: (card.problem, card.size))
    facts = gather()
    if as_json:
        emit(json.dumps(facts | {"weights": [asdict(card) for card in cards]}))
        return
    show_table(("what", "value"), [(name, _text(value)) for name, value in facts.items()], texts=2)
    note("")
    if cards:
        show_table(COLUMNS, [_row(card) for card in cards], texts=2)
        for how, names in _measured(cards).items():
            note(f"gap of {', '.join(names)}: {how}")
    else:
        note("no trained weights are installed: the policy is untrained (random weights)")


def gather() -> dict[str, Any]:
    """Versions, devices and threads."""
    cuda = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "dact": __version__,
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "devices": ["cpu", *cuda],
        "threads": torch.get_num_threads(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _text(value: object) -> str:
    if value is None:
        return "not installed"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _row(card: Card) -> tuple[str, ...]:
    gap = ", ".join(f"{gap:.3f} %" for gap in card.gaps.values()) or "not measured"
    return card.name, facts_of(card.problem).title, str(card.size), gap, card.created or "-"


def _measured(cards: list[Card]) -> dict[str, list[str]]:
    """How gaps were measured, and for which weights."""
    names: dict[str, list[str]] = {}
    for card in cards:
        for how in card.gaps:
            names.setdefault(how, []).append(card.name)
    return names

"""`dact info`: versions, search methods, devices, weights."""

import json
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from dact import __version__
from dact.cards import Card, read_card, shipped
from dact.cli.screen import emit, table_text
from dact.instances import facts_of
from dact.pipeline import SEARCHES

PACKAGES = ("torch", "numpy", "triton")
COLUMNS = ("weights", "problem", "size", "gap", "date")


def show_info(*, as_json: bool) -> None:
    """Print versions, devices, and the shipped weights with their quality."""
    cards = sorted((read_card(path) for path in shipped()), key=lambda card: (card.problem, card.size))
    facts = gather()
    if as_json:
        emit(json.dumps(facts | {"weights": [asdict(card) for card in cards]}))
        return
    lines = [table_text(("what", "value"), [(name, _text(value)) for name, value in facts.items()], texts=2), ""]
    if cards:
        lines.append(table_text(COLUMNS, [_row(card) for card in cards], texts=2))
        lines += [f"gap of {', '.join(names)}: {how}" for how, names in _measured(cards).items()]
        lines.append("weights are for the search policy; hybrid, the default of dact solve, needs none")
    else:
        lines.append("no trained weights are installed: the policy is untrained (random weights)")
    emit("\n".join(lines))


def gather() -> dict[str, Any]:
    """Versions, search methods, devices and threads."""
    cuda = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "dact": __version__,
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "searches": list(SEARCHES),
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
    return card.name, facts_of(card.problem).title, _sizes(card), gap, card.created or "-"


def _measured(cards: list[Card]) -> dict[str, list[str]]:
    """How gaps were measured, and for which weights."""
    names: dict[str, list[str]] = {}
    for card in cards:
        for how in card.gaps:
            names.setdefault(how, []).append(card.name)
    return names


def _sizes(card: Card) -> str:
    return f"{min(card.sizes)}-{max(card.sizes)}" if card.sizes else str(card.size)

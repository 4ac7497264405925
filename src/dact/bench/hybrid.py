"""Variants of a search in the same time on the same instances: gaps, rates, the network's share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

import numpy as np
import torch

from dact.bench.measurements import device_name
from dact.bench.searches import Bench, Point, Searched
from dact.bench.variants import Variant
from dact.instances.arrays import FloatArray
from dact.pipeline import SolveConfig
from dact.provenance import commit

Progress = Callable[[str, float], None]
"""Called with the name of the variant at hand, and how far it is, from 0 to 1."""
Limit = Mapping[str, object]
"""`{"time_limit": seconds}` or `{"steps": rounds}`."""


@dataclass(frozen=True, kw_only=True)
class HybridTiming:
    """Results of a variant. Gaps and differences are percentages; errors are of the mean over distinct instances."""

    date: str
    device: str
    commit: str
    torch: str
    instances: str
    count: int
    distinct: int
    variant: str
    settings: str
    limit: str
    seed: int
    seconds: float
    """Of the search."""
    call_seconds: float
    """From the instances at hand to the last checked answer, kernels compiled before."""
    rounds: int
    rounds_per_s: float
    cost: float
    gap: float | None
    error: float | None
    against_first: float
    """By how much costs exceed those of the first variant under the same limit, instance by instance."""
    against_error: float
    network_percent: float | None


@dataclass(frozen=True, kw_only=True)
class Look:
    """A point of a variant's curve."""

    variant: str
    limit: str
    seconds: float
    rounds: int
    cost: float
    gap: float | None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A variant's row, and the way there."""

    timing: HybridTiming
    curve: tuple[Look, ...]


def measure_hybrid(
    bench: Bench,
    variants: Sequence[Variant],
    limits: Sequence[Limit],
    progress: Progress | None = None,
    **others: object,
) -> Iterator[Measured]:
    """Each variant under each limit; `others` are settings of all of them, such as the seed.

    Before any is measured every variant makes one step, so that kernels are compiled and settings that do not fit are
    refused.
    """
    for variant in variants:
        bench.search(variant.config(**others, steps=1))
    for limit in limits:
        first: FloatArray | None = None
        for variant in variants:
            config = variant.config(**others, **limit)
            found = bench.search(config, None if progress is None else partial(progress, variant.name))
            first = found.costs if first is None else first
            yield _measured(bench, variant, config, found, first)


def limit_text(config: SolveConfig) -> str:
    """How a search was limited, for tables."""
    return f"{config.steps:,} rounds" if config.time_limit is None else f"{config.time_limit:g} s"


def _measured(bench: Bench, variant: Variant, config: SolveConfig, found: Searched, first: FloatArray) -> Measured:
    limit, known_D, gap, error = limit_text(config), bench.known_D, None, None
    if known_D is not None:
        gap, error = mean_and_error(100 * (found.costs / np.resize(known_D, bench.count) - 1), bench.different)
    against, against_error = mean_and_error(100 * (found.costs / first - 1), bench.different)
    timing = HybridTiming(
        date=date.today().isoformat(),
        device=device_name(config.torch_device().type),
        commit=commit(),
        torch=torch.__version__,
        instances=bench.name,
        count=bench.count,
        distinct=bench.different,
        variant=variant.name,
        settings=" ".join(f"{name}={value}" for name, value in variant.settings.items()),
        limit=limit,
        seed=config.seed,
        seconds=round(found.seconds, 3),
        call_seconds=round(found.call_seconds, 3),
        rounds=found.rounds,
        rounds_per_s=round(found.rounds_per_s, 1),
        cost=float(found.costs.mean()),
        gap=gap,
        error=error,
        against_first=against,
        against_error=against_error,
        network_percent=None if found.network_percent is None else round(found.network_percent, 1),
    )
    return Measured(timing=timing, curve=tuple(_look(variant.name, limit, point) for point in found.curve))


def _look(variant: str, limit: str, point: Point) -> Look:
    return Look(variant=variant, limit=limit, **point._asdict())


def mean_and_error(value_I: FloatArray, distinct: int) -> tuple[float, float]:
    """The mean, and its standard error over distinct instances: copies of one are no further evidence."""
    place_I = np.arange(len(value_I)) % distinct
    value_D = np.bincount(place_I, value_I) / np.bincount(place_I)
    error = float(value_D.std(ddof=1)) / distinct**0.5 if distinct > 1 else 0.0
    return float(value_I.mean()), error

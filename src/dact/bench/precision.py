"""Do two precisions search equally well? Both solve the same instances, and their costs are compared in pairs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import torch

from dact.bench.measurements import device_name, triton_version
from dact.evaluation import Evaluation, Progress, evaluate
from dact.instances import InstanceSet, generate_set
from dact.pipeline import SolveConfig
from dact.provenance import commit
from dact.search import settled_precision

PAIRED_SIZES = (("tsp", 100), ("cvrp", 100))
INSTANCE_SEED = 2468
"""Neither that of the published test sets nor one of those that weights are chosen by."""
LARGEST_PERCENT = 0.1
STANDARD_ERRORS = 2.0


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Mean costs of two searches over the same instances."""

    date: str
    device: str
    commit: str
    torch: str
    triton: str
    instances: str
    count: int
    steps: int
    weights: str | None
    one: str
    other: str
    mean_one: float
    mean_other: float
    difference: float
    """Mean of one minus other, instance by instance."""
    standard_error: float
    percent: float
    alike: bool
    """The difference is below 0.1 % of the cost and within two standard errors."""


def compare(
    sets: Sequence[InstanceSet], one: SolveConfig, other: SolveConfig, progress: Progress | None = None
) -> Iterator[Comparison]:
    """Solve each set with both settings."""
    for instances in sets:
        yield comparison(*(evaluate(instances, config, progress=progress) for config in (one, other)))


def paired_sets(sizes: Sequence[tuple[str, int]], count: int) -> list[InstanceSet]:
    """Uniform instances, the same ones for everybody."""
    return [generate_set(problem, size, count, INSTANCE_SEED) for problem, size in sizes]


def comparison(one: Evaluation, other: Evaluation) -> Comparison:
    """Two evaluations of the same instances, in pairs."""
    difference_I = one.costs - other.costs
    difference = float(difference_I.mean())
    error = float(difference_I.std(ddof=1)) / math.sqrt(len(difference_I))
    percent = 100 * difference / other.mean_cost
    device = one.config.torch_device().type
    return Comparison(
        date=date.today().isoformat(),
        device=device_name(device),
        commit=commit(),
        torch=torch.__version__,
        triton=triton_version(),
        instances=one.name,
        count=one.instances,
        steps=one.steps,
        weights=one.weights,
        one=_words(one.config),
        other=_words(other.config),
        mean_one=one.mean_cost,
        mean_other=other.mean_cost,
        difference=difference,
        standard_error=error,
        percent=round(percent, 4),
        alike=abs(percent) < LARGEST_PERCENT and abs(difference) <= STANDARD_ERRORS * error,
    )


def _words(config: SolveConfig) -> str:
    return f"{settled_precision(config.precision, config.torch_device())} seed {config.seed}"

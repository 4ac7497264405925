"""A policy trained on TSP50 at other sizes (Table 2b): absolute against cyclic encoding, reused in either way."""

from dataclasses import dataclass, replace
from pathlib import Path

from dact.cards import SHIPPED
from dact.evaluation import Evaluation
from dact.pipeline import SolveConfig
from dact.policy import Weights, load_weights, save_weights
from dact.reproduce import paper
from dact.reproduce.base import Cell, Outcome, Request, Study, Table
from dact.reproduce.models import ABSOLUTE, CYCLIC, extent, needed, shipped_origin, training_minutes
from dact.reproduce.published_sets import SEED as SET_SEED
from dact.reproduce.published_sets import published_set
from dact.reproduce.runs import SetSearch, device_of, do, runs_folder
from dact.reproduce.trained import at_hand

TRAINED, SEED = 50, 1
SHIPPED_NAME = "tsp50"
SHIPPED_MODEL = f"{SHIPPED_NAME} as shipped"
COLUMNS = {
    **dict.fromkeys(("set", "model", "encoding", "wavelengths", "instances", "T")),
    **{"cost": 4, "gap to references, %": 3, "gap to the published mean, %": 2, "paper: gap, %": 2},
}


@dataclass(frozen=True, kw_only=True)
class SizesConfig:
    """Sizes, and how long they are searched."""

    sizes: tuple[int, ...] = (20, 100)
    count: int = 1000
    steps: int = 5000


FULL, QUICK = SizesConfig(), SizesConfig(count=8, steps=50)


@dataclass(frozen=True)
class EncodingVariant:
    """A model, its encoding, and whether the wavelengths are of the size at hand or of the trained one."""

    model: str
    kind: str
    wavelengths: str
    weights: Path


def make(request: Request) -> Outcome:
    """One row for each model, way and size."""
    config = QUICK if request.quick else FULL
    variants = _variants(request)
    cases = [(variant, size) for variant in variants for size in config.sizes]
    runs = [_run(variant, size, config, request) for variant, size in cases]
    done = do("sizes", runs, request)
    rows = [_row(*case, each) for case, each in zip(cases, done, strict=True)]
    title = f"Policies trained on TSP{TRAINED} at other sizes"
    return Outcome(
        outputs=(Table(name="table", title=title, columns=COLUMNS, rows=rows),),
        instances=f"{config.count:,} of each set, numpy's legacy generator, seed {SET_SEED}",
        seeds=f"search {SEED}",
        notes=(
            "The paper reports the better of the two ways to reuse the cyclic encoding; OR-Tools has 0.00 and 3.87 % "
            "there. Its models are trained alike, so our rows to compare are those of tsp50-cyclic and tsp50-absolute, "
            f"which have {extent(CYCLIC)} each, a thirtieth of the paper's: what compares is which of them is ahead. "
            "Both have seen TSP20 before, where the paper's have not. "
            f"{shipped_origin(SHIPPED_NAME)} The published mean is Concorde's on other draws.",
        ),
        smaller=f"{config.count} instances instead of {FULL.count:,}, T = {config.steps} instead of {FULL.steps:,}",
        missing=needed([CYCLIC, ABSOLUTE], request.models, "sizes"),
        device=device_of(done),
    )


def _variants(request: Request) -> list[EncodingVariant]:
    """Two of every cyclic model, one of the absolute one, as far as they are there."""
    there = at_hand([CYCLIC, ABSOLUTE], request)
    paths = {SHIPPED_MODEL: SHIPPED / f"{SHIPPED_NAME}.safetensors"}
    paths |= {name: path for name, path in there.items() if name == CYCLIC.name}
    variants = []
    for model, path in paths.items():
        kept = runs_folder("sizes", request) / f"{path.stem}-wavelengths{TRAINED}.safetensors"
        save_weights(kept, with_wavelengths(load_weights(path), TRAINED))
        variants += [EncodingVariant(model, "cyclic", "of the size at hand", path)]
        variants += [EncodingVariant(model, "cyclic", f"of {TRAINED}", kept)]
    if ABSOLUTE.name in there:
        variants.append(EncodingVariant(ABSOLUTE.name, "absolute", "-", there[ABSOLUTE.name]))
    return variants


def with_wavelengths(weights: Weights, length: int) -> Weights:
    """The same weights, with an encoding whose wavelengths stay those of a length (Appendix B, strategy 2)."""
    config = weights.policy.config
    weights.policy.config = replace(config, position=replace(config.position, wavelength_length=length))
    return weights


def _run(variant: EncodingVariant, size: int, config: SizesConfig, request: Request) -> SetSearch:
    instances = published_set("tsp", size, config.count, request.data)
    settings = SolveConfig.flat(steps=config.steps, weights=str(variant.weights), seed=SEED, device=request.device)
    return SetSearch(name=f"tsp{size}-{variant.weights.stem}", instances=instances, config=settings)


def _row(variant: EncodingVariant, size: int, found: Evaluation) -> tuple[Cell, ...]:
    printed = paper.SIZES[variant.kind, size] if found.steps == FULL.steps else None
    to_mean = paper.above_published("tsp", size, found.mean_cost)
    head = (f"TSP{size}", variant.model, variant.kind, variant.wavelengths)
    return (*head, found.instances, found.steps, found.mean_cost, found.gap, to_mean, printed)


STUDY = Study(
    name="sizes",
    what="A TSP50 policy on TSP20 and TSP100 at T = 5k: absolute against cyclic encoding, both ways to reuse it.",
    where="Table 2b",
    make=make,
    needs=f"for the absolute encoding: {ABSOLUTE.name} and {CYCLIC.name}; --data for gaps to references",
    gpu_minutes=1,
    training_minutes=training_minutes([CYCLIC, ABSOLUTE]),
    quick=f"{QUICK.count} instances, T = {QUICK.steps}",
)

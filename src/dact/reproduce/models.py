"""Weights trained for comparisons: names, files, and training recipes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dact.cards import SHIPPED, read_card
from dact.reproduce.base import NeedsError
from dact.training import TrainConfig, load_config

CHECKOUT = Path(__file__).parents[3] / "configs" / "ablations"
RECIPES = CHECKOUT if CHECKOUT.is_dir() else Path(__file__).with_name("recipes")
"""In a checkout, or the copy inside an installed package."""
SMALLER = (
    *(
        "size=10",
        "tours=random",
        "rows=32",
        "horizon=20",
        "epochs=5",
        "batches=2",
        "rate_warm_up=0",
        "curriculum.rate=0.05",
    ),
    *("discount=0.9", "gradient_norm=0.5", "actor_rate=1e-3", "critic_rate=1e-3", "normalise_advantage=true"),
    *("smoothing=0", "validation.count=64", "validation.steps=20", "every_batches=2"),
)
"""Changes to a recipe so that a CPU finishes it in about ten seconds: 10 customers and larger steps."""
SINGLE = ("network.encoder=single", "network.dim=128", "network.head_dim=32")
"""SA-T of Table 3."""
SINUSOIDAL = ("network.position=sinusoidal",)
"""The absolute encoding of Table 2b."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """Weights that are not shipped in the package."""

    name: str
    what: str
    recipe: str
    """Name of its config in configs/ablations/; models that are compared share it."""
    settings: tuple[str, ...] = ()
    """Changes to the recipe."""
    start: "Model | None" = None
    """The model whose weights its training starts from."""
    seconds: int
    """Approximate training time on one H200."""

    @property
    def file(self) -> Path:
        """File of the recipe."""
        return RECIPES / f"{self.recipe}.toml"

    @property
    def chain(self) -> "tuple[Model, ...]":
        """The models that are trained for it, first to last, itself included."""
        return (*(() if self.start is None else self.start.chain), self)

    @property
    def changes(self) -> tuple[str, ...]:
        """Changes to the recipe, including the name."""
        return (f"name={self.name}", *self.settings)

    def path(self, folder: Path) -> Path:
        """Its weights file in this folder."""
        return folder / f"{self.name}.safetensors"

    def exists(self, folder: Path) -> bool:
        """Has it been trained?"""
        return self.path(folder).is_file()

    def smaller(self) -> "Model":
        """A version for `--quick`, trained on a CPU in seconds."""
        return replace(self, settings=(*SMALLER, *self.settings), start=None)

    def config(self) -> TrainConfig:
        """Its training config."""
        return load_config(self.file, self.changes)


def needed(models: Sequence[Model], folder: Path, study: str) -> tuple[str, ...]:
    """A sentence for each missing model: what it is, how to train it, and how long that takes."""
    return tuple(
        f"{model.what}: {model.path(folder)} is missing; `dact reproduce {study} --train` trains it "
        f"(about {model.seconds} s on one H200)"
        for model in models
        if not model.exists(folder)
    )


def none_there(models: Sequence[Model], folder: Path, study: str) -> NeedsError:
    """The error of a study that needs models and has none."""
    names = ", ".join(model.name for model in models)
    return NeedsError(
        f"{study} needs weights that {folder} does not have ({names}); `dact reproduce {study} --train` trains them "
        f"(about {training_minutes(models):g} min on one H200)"
    )


def training_minutes(models: Sequence[Model]) -> float:
    """Total training time on one H200, initial models included, in half minutes."""
    chain = {each.name: each for model in models for each in model.chain}
    return max(0.5, round(sum(model.seconds for model in chain.values()) / 30) / 2)


def extent(model: Model) -> str:
    """Amount of training: updates and rows."""
    config = model.config()
    updates = config.schedule.epochs * config.schedule.batches * config.segments
    start = "" if model.start is None else f" from a TSP{model.start.config().size} model of its kind"
    return f"{updates:,} updates of {config.schedule.rows} rows{start}"


def shipped_origin(name: str) -> str:
    """A sentence about shipped weights beside those that are trained for a comparison: which sizes they know."""
    started_from = read_card(SHIPPED / f"{name}.safetensors").started_from
    before = SHIPPED / f"{started_from}.safetensors"
    size = f", so that instances of {read_card(before).size} nodes are not new to it" if before.is_file() else ""
    start = f", from {started_from}{size}" if started_from else ""
    return f"The shipped {name} has been trained longer{start}."


OPERATOR_MODELS = {
    operator: Model(
        name=f"tsp20-{operator}",
        what=f"a TSP20 policy trained with {operator}",
        recipe="tsp20",
        settings=(f"operator={operator}",),
        seconds=20,
    )
    for operator in ("two_opt", "insert", "swap")
}
ADDED = Model(
    name="tsp20-single", what="a TSP20 policy that adds its encodings", recipe="tsp20", settings=SINGLE, seconds=50
)
CYCLIC = Model(
    name="tsp50-cyclic",
    what="a TSP50 policy with the cyclic encoding",
    recipe="tsp50",
    start=OPERATOR_MODELS["two_opt"],
    seconds=20,
)
ABSOLUTE20 = Model(
    name="tsp20-absolute",
    what="a TSP20 policy with the absolute encoding",
    recipe="tsp20",
    settings=SINUSOIDAL,
    seconds=20,
)
ABSOLUTE = Model(
    name="tsp50-absolute",
    what="a TSP50 policy with the absolute encoding",
    recipe="tsp50",
    settings=SINUSOIDAL,
    start=ABSOLUTE20,
    seconds=20,
)
SINGLE50 = Model(
    name="tsp50-single",
    what="a TSP50 policy with a single aspect",
    recipe="tsp50",
    settings=SINGLE,
    start=ADDED,
    seconds=65,
)
DUAL100 = Model(name="tsp100-dual", what="a TSP100 policy with both aspects", recipe="tsp100", start=CYCLIC, seconds=15)
SINGLE100 = Model(
    name="tsp100-single",
    what="a TSP100 policy with a single aspect",
    recipe="tsp100",
    settings=SINGLE,
    start=SINGLE50,
    seconds=35,
)
CURRICULUM_SEEDS = (1, 2, 3, 4, 5)
CURRICULUM_MODELS = {
    (name, seed): Model(
        name=f"cvrp20-{name}-seed{seed}",
        what=f"a CVRP20 policy trained {name} the curriculum, seed {seed}",
        recipe="cvrp20",
        settings=(f"seed={seed}", *settings),
        seconds=10,
    )
    for name, settings in {"with": (), "without": ("curriculum.rate=0",)}.items()
    for seed in CURRICULUM_SEEDS
}
MODELS = (
    *(*OPERATOR_MODELS.values(), ADDED, ABSOLUTE20, CYCLIC, ABSOLUTE, SINGLE50, DUAL100, SINGLE100),
    *CURRICULUM_MODELS.values(),
)

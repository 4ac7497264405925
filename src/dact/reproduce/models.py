"""Weights trained for comparisons: which there are to be, where they are looked for, and how they are made."""

from dataclasses import dataclass
from pathlib import Path

from dact.policy import Weights, load_weights
from dact.reproduce.base import NeedsError


@dataclass(frozen=True, kw_only=True)
class Model:
    """Weights that are not shipped in the package."""

    name: str
    what: str
    config: str
    """Name of the config that it is trained by."""
    settings: tuple[str, ...]
    """Changes to the config."""
    minutes: int
    """Planned for its training on one GPU."""

    @property
    def command(self) -> str:
        """Makes it."""
        changes = " ".join(f"--set {each}" for each in (f"name={self.name}", *self.settings))
        return f"dact train configs/{self.config}.toml {changes} --minutes {self.minutes}"

    def path(self, folder: Path) -> Path:
        """Where it is looked for."""
        return folder / f"{self.name}.safetensors"

    def exists(self, folder: Path) -> bool:
        """Has it been trained?"""
        return self.path(folder).is_file()

    def needed(self, folder: Path) -> str:
        """What is missing, how it is made, and how long that takes."""
        return (
            f"{self.what}: {self.path(folder)} is not there; `{self.command}` trains it "
            f"({self.minutes} minutes planned on one GPU), and its best.safetensors goes there"
        )

    def load(self, folder: Path) -> Weights:
        """The weights; a NeedsError says how to make them."""
        if not self.exists(folder):
            raise NeedsError(self.needed(folder))
        return load_weights(self.path(folder))


def _tsp20(name: str, what: str, *settings: str) -> Model:
    return Model(name=f"tsp20-{name}", what=f"a TSP20 policy {what}", config="tsp20-fast", settings=settings, minutes=3)


def _tsp50(name: str, what: str, *settings: str) -> Model:
    return Model(name=f"tsp50-{name}", what=f"a TSP50 policy {what}", config="tsp50-fast", settings=settings, minutes=6)


OPERATOR_MODELS = {
    operator: _tsp20(operator, f"trained with {operator}", f"operator={operator}")
    for operator in ("two_opt", "insert", "swap")
}
"""Of equal budgets, so that only the operator differs."""
ADDED = _tsp20("single", "that adds its encodings", "network.encoder=single", "network.dim=128")
ABSOLUTE = _tsp50("absolute", "with the absolute encoding", "network.position=sinusoidal")
CYCLIC = _tsp50("cyclic", "with the cyclic encoding, trained as the absolute one", "network.position=cyclic")
MODELS = (*OPERATOR_MODELS.values(), ADDED, ABSOLUTE, CYCLIC)

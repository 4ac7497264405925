"""Types of a reproduction: the request, the study, and its tables and pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dact.instances import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure

Config = TypeVar("Config", bound="DataclassInstance")
Cell = str | int | float | None
Progress = Callable[[float, str], None]
"""Called with the fraction of the work done and what is being done."""
NOTHING_DRAWN = "none: nothing is drawn"
DEFAULT_MODELS = Path("docs/reproduction/models")


def _ignored(fraction: float, detail: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Request:
    """Options of a reproduction."""

    out: Path
    quick: bool = False
    instances: int | None = None
    """Of each set or library, where the full version has more."""
    seeds: int | None = None
    """Instead of the full version's."""
    data: Path | None = None
    """Public instances and reference costs: `tsplib/`, `cvrplib/`, `test_reference/`."""
    models: Path = DEFAULT_MODELS
    """Folder of the weights trained for comparisons."""
    train: bool = False
    """Train missing weights."""
    shard: tuple[int, int] = (1, 1)
    """(i, n): search every n-th block from the i-th on, and make no files."""
    device: str = "auto"
    progress: Progress = field(default=_ignored, repr=False)

    def __post_init__(self) -> None:
        for option in ("instances", "seeds"):
            value = getattr(self, option)
            if value is not None and value < 1:
                raise InputError(f"{option} {value} is below 1")
            if value is not None and self.quick:
                raise InputError(f"--quick has its own numbers: leave out --{option}, or --quick")

    @property
    def version(self) -> str:
        """Full, or how it is smaller."""
        return "quick" if self.quick else "reduced" if self.instances or self.seeds else "full"

    def command(self, name: str) -> str:
        """The command line of this request, without local folders."""
        number, shards = self.shard
        parts = ["dact reproduce", name, "--quick" if self.quick else "", "--train" if self.train else ""]
        parts += [f"--instances {self.instances}" if self.instances else ""]
        parts += [f"--seeds {self.seeds}" if self.seeds else ""]
        parts += ["--data DATA" if self.data else "", f"--shard {number}/{shards}" if shards > 1 else ""]
        parts += [f"--device {self.device}" if self.device != "auto" else ""]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, written as Markdown with rounded numbers and as CSV in full precision."""

    name: str
    title: str
    columns: Mapping[str, int | None]
    """Headers, and the decimals that Markdown rounds to; None: no rounding."""
    rows: Sequence[tuple[Cell, ...]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table '{self.name}' has {len(self.columns)} columns, but a row of {len(row)} cells")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure with its title."""

    name: str
    title: str
    figure: "Figure"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a study made, and the facts that its files state."""

    outputs: tuple[Table | Picture, ...]
    instances: str
    """Number and origin of the instances."""
    seeds: str = NOTHING_DRAWN
    notes: tuple[str, ...] = ()
    """Paragraphs that compare the results with the paper's."""
    smaller: str = ""
    """What a quick or reduced version leaves out."""
    missing: tuple[str, ...] = ()
    """A sentence for each part that could not be made, with what it needs."""
    device: str = "cpu"
    """Kind of device it was computed on."""


class ShardDone(Exception):  # noqa: N818 - nothing went wrong
    """A shard of the searches is done; tables and pictures need all of them."""

    def __init__(self, shard: tuple[int, int]) -> None:
        number, shards = shard
        super().__init__(
            f"shard {number}/{shards} is done; when all are, the same command without --shard makes the files"
        )


class NeedsError(InputError):
    """A required input is missing, so that nothing can be made."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table or figure of the paper under a name."""

    name: str
    what: str
    where: str
    """Its place in the paper."""
    make: Callable[[Request], Outcome]
    needs: str = "nothing"
    gpu_minutes: float = 0.0
    """Duration of a full run on one H200, by the speeds in docs/results.md; 0 if a CPU needs only seconds."""
    training_minutes: float = 0.0
    """Additional duration of `--train` if no model has been trained yet."""
    quick: str = "the same as the full version"
    """How `--quick` differs."""
    instances: int = 0
    """Of each set or library in the full version; `--instances` takes fewer. 0: that has no meaning here."""
    seeds: int = 0
    """The same of `--seeds`."""

    def check(self, request: Request) -> None:
        """Refuse numbers that this one does not take."""
        for option, most in (("instances", self.instances), ("seeds", self.seeds)):
            value = getattr(request, option)
            if value is not None and not most:
                raise InputError(f"{self.name} takes no --{option}")
            if value is not None and value > most:
                raise InputError(f"{option} {value} is above the {most:,} of the full version of {self.name}")

    def minutes(self, request: Request) -> float:
        """On one H200, for what is asked for."""
        share = (request.instances or self.instances or 1) / (self.instances or 1)
        share *= (request.seeds or self.seeds or 1) / (self.seeds or 1)
        return self.gpu_minutes if share == 1 else max(0.5, round(2 * self.gpu_minutes * share) / 2)


def asked(full: Config, quick: Config, request: Request) -> Config:
    """The numbers of a quick version, or of the full one with `count` and `seeds` as asked for."""
    if request.quick:
        return quick
    wishes = {"count": request.instances, "seeds": request.seeds}
    return replace(full, **{name: value for name, value in wishes.items() if value is not None})


def fewer(now: int, full: int, what: str) -> str:
    """For the sentence that says what is smaller; empty where nothing is."""
    return "" if now == full else f"{now:,} {what} instead of {full:,}"


def listed(*parts: str) -> str:
    """Those that are not empty."""
    return ", ".join(part for part in parts if part)

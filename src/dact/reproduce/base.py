"""What a reproduction is: a request, what it gives, and what it needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dact.instances import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cell = str | int | float | None
Progress = Callable[[float, str], None]
"""Called with the fraction of the work done and what is being done."""
NOTHING_DRAWN = "none: nothing is drawn"
DEFAULT_MODELS = Path("docs/reproduction/models")


def _ignored(fraction: float, detail: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is wanted, and where it goes."""

    out: Path
    quick: bool = False
    data: Path | None = None
    """Public instances and reference costs: `tsplib/`, `cvrplib/`, `test_reference/`."""
    models: Path = DEFAULT_MODELS
    """Where weights trained for comparisons lie."""
    train: bool = False
    """Train those that are missing."""
    shard: tuple[int, int] = (1, 1)
    """Of searches over sets: every n-th block from the i-th on."""
    device: str = "auto"
    progress: Progress = field(default=_ignored, repr=False)

    def command(self, name: str) -> str:
        """What was called, without the folders of this machine."""
        number, shards = self.shard
        parts = ["dact reproduce", name, "--quick" if self.quick else "", "--train" if self.train else ""]
        parts += ["--data DATA" if self.data else "", f"--shard {number}/{shards}" if shards > 1 else ""]
        parts += [f"--device {self.device}" if self.device != "auto" else ""]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows for people (Markdown, rounded) and for programs (CSV, as they are)."""

    name: str
    title: str
    columns: Mapping[str, int | None]
    """Headers, and the decimals that Markdown rounds to; None: as it is."""
    rows: Sequence[tuple[Cell, ...]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table '{self.name}' has {len(self.columns)} columns, but a row of {len(row)} cells")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure, and what it shows."""

    name: str
    title: str
    figure: "Figure"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What was made, and what has to be known of it."""

    outputs: tuple[Table | Picture, ...]
    instances: str
    """How many, and which."""
    seeds: str = NOTHING_DRAWN
    notes: tuple[str, ...] = ()
    """What the paper says, and how to read ours beside it."""
    smaller: str = ""
    """What a quick version leaves out."""
    missing: tuple[str, ...] = ()
    """What could not be made, and what it needs."""
    device: str = "cpu"
    """The kind of device that computed it."""


class NeedsError(InputError):
    """Nothing can be made without something that is not there."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table or figure of the paper under a name."""

    name: str
    what: str
    where: str
    """In the paper."""
    make: Callable[[Request], Outcome]
    needs: str = "nothing"
    gpu_minutes: float = 0.0
    """Of a full run on one H200, by the speeds in docs/results.md; 0 where a CPU does it in seconds."""
    training_minutes: float = 0.0
    """That `--train` takes besides, where no model is there yet."""
    quick: str = "the same as the full version"
    """What `--quick` makes smaller."""

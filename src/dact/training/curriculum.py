"""Schedules: warm-up steps and learning rates as functions of the training progress, 0 to 1."""

import math
from dataclasses import dataclass

STARTS = ("best", "last")
TOURS = ("random", "greedy")
EPOCHS = 200
"""E of the paper. Schedules are defined over this many epochs and stretched to the length of a run."""

FEW_HORIZONS = 10
"""With fewer horizons in a schedule its curriculum is too coarse."""
LARGEST_RATE = 500.0
"""Largest curriculum rate: 100,000 warm-up steps. The paper's largest is 12.5."""


@dataclass(frozen=True, kw_only=True)
class CurriculumConfig:
    """How good the solutions are that a horizon starts from."""

    rate: float = 0.25
    """Curriculum rate (xi): warm-up steps at the end of training, per epoch."""
    begin: float = 0.0
    """Progress at which the warm-up schedule begins: above 0 for runs whose initial weights were trained on the same
    size."""
    sharpness: float = 0.2
    """Kappa: how suddenly the warm-up grows in the middle of training."""
    start: str = "best"
    """Start a horizon from the `best` solutions of the warm-up, as the authors' code does, or from the `last`."""
    tours: str = "random"
    """Initial tours of a batch: `random`, as in the paper, or `greedy`, as in inference."""
    horizons: int = 1
    """Horizons trained on the same instances, each from the best solutions so far."""
    restart: int = 0
    """Steps without a better solution after which a row goes back to its incumbent, as in a search; 0: never, as in the
    paper."""
    ages: int = 0
    """0: the paper's curriculum, where all rows are new at once. Else rows of all ages are trained side by side: each
    is replaced by a new instance after so many steps of its own, the warm-up is made by new rows alone, and a horizon
    begins from the rows' best solutions or, with `start = "last"`, from where they are."""

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ValueError(f"curriculum.rate {self.rate} is negative")
        if self.rate > LARGEST_RATE:
            raise ValueError(
                f"curriculum.rate {self.rate} is above {LARGEST_RATE:g}: {EPOCHS} times it are warm-up steps"
            )
        if not 0 <= self.begin <= 1:
            raise ValueError(f"curriculum.begin {self.begin} is not between 0 and 1")
        if self.sharpness <= 0:
            raise ValueError(f"curriculum.sharpness {self.sharpness} is not positive")
        if self.start not in STARTS:
            raise ValueError(f"curriculum.start '{self.start}' is not one of {', '.join(STARTS)}")
        if self.tours not in TOURS:
            raise ValueError(f"curriculum.tours '{self.tours}' is not one of {', '.join(TOURS)}")
        if self.horizons < 1:
            raise ValueError(f"curriculum.horizons {self.horizons} is below 1")
        for name in ("restart", "ages"):
            if getattr(self, name) < 0:
                raise ValueError(f"curriculum.{name} {getattr(self, name)} is negative")


@dataclass(frozen=True, kw_only=True)
class ScheduleConfig:
    """Length of the training; the defaults are the paper's for TSP."""

    epochs: int = EPOCHS
    batches: int = 20
    """Batches per epoch."""
    rows: int = 600
    """Instances in a batch."""
    horizon: int = 200
    """T_train: steps per horizon."""
    schedule_minutes: float = 0.0
    """If positive, progress is minutes trained over this number; otherwise updates done over updates planned."""
    decay: float = 0.985
    """Factor on the learning rate per epoch."""
    rate_warm_up: float = 0.0
    """Share of the training over which the learning rate rises from a tenth."""
    critic_first: float = 0.0
    """Share of the training, at its start, in which only the critic is trained."""

    def __post_init__(self) -> None:
        for name in ("epochs", "batches", "rows", "horizon", "decay"):
            if getattr(self, name) <= 0:
                raise ValueError(f"schedule.{name} is {getattr(self, name)}, but must be positive")
        if self.decay > 1:
            raise ValueError(f"schedule.decay {self.decay} is above 1: the learning rates would grow")
        if self.schedule_minutes < 0:
            raise ValueError(f"schedule.schedule_minutes {self.schedule_minutes} is negative")
        for name in ("rate_warm_up", "critic_first"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"schedule.{name} {getattr(self, name)} is not at least 0 and below 1")

    def progress(self, horizons: float, minutes: float) -> float:
        """Training progress, 0 to 1."""
        if self.schedule_minutes > 0:
            return min(1.0, minutes / self.schedule_minutes)
        return min(1.0, horizons / (self.epochs * self.batches))


def warm_up_steps(config: CurriculumConfig, progress: float) -> int:
    """T_init = (S(e) - S(0)) / (S(E) - S(0)) * xi * E, with e = progress * E (Algorithm 1, line 5).

    Rounded, so that the last batches have the paper's xi * E although their progress is a little below 1.
    """

    def sigmoid(epoch: float) -> float:
        # 1 / (1 + exp(-x)), written so that no sharpness overflows.
        return 0.5 + 0.5 * math.tanh(config.sharpness * (epoch - EPOCHS / 2) / 2)

    progress = config.begin + (1 - config.begin) * progress
    share = (sigmoid(progress * EPOCHS) - sigmoid(0)) / (sigmoid(EPOCHS) - sigmoid(0))
    return round(share * config.rate * EPOCHS)


def rate_factor(config: ScheduleConfig, progress: float) -> float:
    """Factor on the learning rates: decay ** epoch, after a linear rise if there is one."""
    rise = min(1.0, 0.1 + 0.9 * progress / config.rate_warm_up) if config.rate_warm_up > 0 else 1.0
    return float(rise * config.decay ** (progress * EPOCHS))


def too_few_horizons(config: ScheduleConfig, segments: int, seconds: float) -> str:
    """Advice for a schedule by minutes with too few horizons, given the seconds per segment; "" if it has enough."""
    planned, horizon = 60 * config.schedule_minutes, segments * seconds
    if not 0 < planned < FEW_HORIZONS * horizon:
        return ""
    horizons = planned / horizon
    rows = max(1, int(config.rows * horizons / FEW_HORIZONS))
    return (
        f"{config.schedule_minutes:g} minutes of schedule are about {horizons:.2g} horizons of {segments} segments; "
        f"fewer rows (--set rows={rows}) go through more of the curriculum"
    )

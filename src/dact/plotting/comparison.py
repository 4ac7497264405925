"""Curves of several training runs in one picture."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dact.instances import InputError
from dact.plotting.styles import COLOURS, DASHES, plain
from dact.plotting.training import TrainingLog, check_format, draw_panels, dress, read_training, smoothed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVES = (
    ("reward", "reward per step"),
    ("approx_kl", "approximate KL"),
    ("entropy", "entropy, nats"),
    ("explained_variance", "explained variance of the returns"),
    ("warm_up_steps", "warm-up steps"),
)
MOST = len(COLOURS) * len(DASHES)
"""Largest number of distinguishable runs."""


def save_comparison_plot(folders: Sequence[Path], path: Path) -> None:
    """Draw the curves of several runs over one another into a file; the extension names the format."""
    check_format(path)
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise InputError("a run is named twice")
    if len(folders) > MOST:
        raise InputError(f"{len(folders)} runs are too many for one picture: at most {MOST} can be told apart")
    logs = [read_training(folder) for folder in folders]
    panels: list[Callable[[Axes], Axes]] = [partial(plot_validations, logs, distinct_names(folders))]
    panels += [partial(plot_curves, logs, *curve) for curve in CURVES]
    draw_panels(panels, f"{len(logs)} runs", path)


def plot_validations(logs: Sequence[TrainingLog], names: Sequence[str], ax: "Axes") -> "Axes":
    """Gaps where all validated runs have them, else mean costs. The legend tells the best of each run."""
    gaps = all(len(log.series("validation_gap")[1]) for log in logs if len(log.series("validation_cost")[1]))
    for number, (log, name) in enumerate(zip(logs, names, strict=True)):
        minutes, values = log.series("validation_gap" if gaps else "validation_cost")
        best = f"best {values.min():.5g}" if len(values) else "not validated"
        ax.plot(minutes, values, marker="o", markersize=3, label=f"{best}  {plain(name)}", **_style(number))
    for text in ax.legend(fontsize="small", frameon=False).get_texts():
        text.set_parse_math(False)
    return dress(ax, "validation gap, %" if gaps else "validation cost")


def plot_curves(logs: Sequence[TrainingLog], column: str, title: str, ax: "Axes") -> "Axes":
    """One column of all runs, as running means where there are many values."""
    for number, log in enumerate(logs):
        minutes, values = log.series(column)
        many = len(values) > 40 and column != "warm_up_steps"
        ax.plot(minutes, smoothed(values) if many else values, **_style(number))
    return dress(ax, title)


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """The last parts of the paths, as few as tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    deepest = max(len(each) for each in parts)
    choices = (["/".join(each[-count:]) for each in parts] for count in range(1, deepest + 1))
    return next(names for names in choices if len(set(names)) == len(names))


def _style(number: int) -> dict[str, Any]:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS)]
    return {"color": colour, "linestyle": dash, "linewidth": 1.4}

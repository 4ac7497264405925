"""The cost over the steps or the seconds of a search."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from dact.instances import InputError
from dact.instances.files import write_atomically
from dact.plotting.solution import Solution, cost_with_unit
from dact.plotting.styles import COLOURS, DASHES, INK, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dact.search import Trace

MOST_NAMED = len(COLOURS) * len(DASHES)
"""Number of distinguishable curves; more are all drawn in one faint colour."""
SPAN = 50
"""The axis is logarithmic if the search is more than this many times longer than its first point."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How the best cost of a search fell, and when the search ended."""

    name: str
    trace: "Trace"
    steps: int
    seconds: float
    best_known: float | None = None

    def line(self, *, by_steps: bool) -> tuple[list[float], list[float]]:
        """Places and costs up to the end."""
        places = [float(point.step if by_steps else point.seconds) for point in self.trace]
        costs = [point.cost for point in self.trace]
        return [*places, float(max(self.steps if by_steps else self.seconds, places[-1]))], [*costs, costs[-1]]


def plot_trace(result: Solution, ax: "Axes | None" = None) -> "Axes":
    """Draw the best cost against the steps, and the best known value as a dotted line."""
    ax = new_axes() if ax is None else ax
    instance = result.instance
    curve = Curve(
        name=instance.name, trace=result.trace, steps=result.steps, seconds=0.0, best_known=instance.best_known
    )
    _plot_one(curve, ax, by_steps=True)
    ax.set_title(f"cost {cost_with_unit(instance, result.cost)}", loc="right", fontsize="medium", color=INK)
    return ax


def plot_traces(curves: Sequence[Curve], ax: "Axes", *, by_steps: bool = False) -> "Axes":
    """Draw one curve as costs, several as percent above the best known value, or above where each ended."""
    if len(curves) == 1:
        ax = _plot_one(curves[0], ax, by_steps=by_steps)
        cost = curves[0].trace[-1].cost
        ax.set_title(f"cost {cost:,.0f}" if cost >= 1e4 else f"cost {cost:.5g}", loc="right", color=INK)
        return ax
    known = all(curve.best_known for curve in curves)
    for number, curve in enumerate(curves):
        goal = (curve.best_known if known else curve.trace[-1].cost) or 1.0
        places, costs = curve.line(by_steps=by_steps)
        named = len(curves) <= MOST_NAMED
        ax.plot(
            places,
            [100 * (cost - goal) / abs(goal) for cost in costs],
            drawstyle="steps-post",
            color=COLOURS[number % len(COLOURS)] if named else COLOURS[0],
            linestyle=DASHES[number // len(COLOURS)] if named else "-",
            linewidth=1.4 if named else 0.6,
            alpha=1.0 if named else 0.5,
            label=plain(curve.name) if named else None,
        )
    if len(curves) <= MOST_NAMED:
        for text in ax.legend(fontsize="small", frameon=False).get_texts():
            text.set_parse_math(False)
    ax.set_ylabel("percent above the best known value" if known else "percent above the last cost")
    if any(curve.trace[0].cost > 1.01 * curve.trace[-1].cost for curve in curves):
        # Most of the time of a search goes into the last percent.
        ax.set_yscale("symlog", linthresh=0.1)
        ax.yaxis.set_major_formatter("{x:g}")
    return _dress(ax, f"{len(curves)} searches", curves, by_steps=by_steps)


def save_traces_plot(curves: Sequence[Curve], path: Path, *, by_steps: bool = False) -> None:
    """Draw the curves into a file; the extension names the format."""
    from matplotlib.figure import Figure

    if not curves:
        raise InputError("there is no curve to draw")
    figure = Figure(figsize=(8, 5), layout="constrained")
    plot_traces(curves, figure.add_subplot(), by_steps=by_steps)
    picture = BytesIO()
    figure.savefig(picture, format=path.suffix.lower()[1:], dpi=160)
    write_atomically(path, lambda stream: stream.write(picture.getvalue()))


def _plot_one(curve: Curve, ax: "Axes", *, by_steps: bool) -> "Axes":
    ax.plot(*curve.line(by_steps=by_steps), drawstyle="steps-post", color=COLOURS[0], linewidth=1.6)
    if curve.best_known is not None:
        ax.axhline(curve.best_known, color=INK, linewidth=0.9, linestyle=":")
        place = (1, curve.best_known)
        ax.annotate("best known", place, xycoords=("axes fraction", "data"), ha="right", va="bottom", color=INK)
    ax.set_ylabel("best cost")
    return _dress(ax, curve.name, [curve], by_steps=by_steps)


def _dress(ax: "Axes", title: str, curves: Sequence[Curve], *, by_steps: bool) -> "Axes":
    ax.set_xlabel("steps" if by_steps else "seconds")
    places = sorted({place for curve in curves for place in curve.line(by_steps=by_steps)[0]})
    least = next((place for place in places if place > 0), 0.0)
    if places[-1] > SPAN * least > 0:
        ax.set_xscale("symlog" if places[0] == 0 else "log", **({"linthresh": least} if places[0] == 0 else {}))
        ax.xaxis.set_major_formatter("{x:g}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(plain(title), loc="left", fontweight="bold", color=INK, parse_math=False)
    return ax

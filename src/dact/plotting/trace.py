"""The cost over the steps of a search."""

from typing import TYPE_CHECKING

from dact.plotting.routes import COLOURS, INK, new_axes
from dact.plotting.solution import Solution, cost_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_trace(result: Solution, ax: "Axes | None" = None) -> "Axes":
    """Draw the best cost against the steps, and the best known value as a dotted line."""
    ax = new_axes() if ax is None else ax
    steps = [point.step for point in result.trace] + [result.steps]
    costs = [point.cost for point in result.trace]
    ax.plot(steps, [*costs, costs[-1]], drawstyle="steps-post", color=COLOURS[0], linewidth=1.6)
    best = result.instance.best_known
    if best is not None:
        ax.axhline(best, color=INK, linewidth=0.9, linestyle=":")
        ax.annotate("best known", (1, best), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=INK)
    ax.set_xlabel("steps")
    ax.set_ylabel("best cost")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(result.instance.name, loc="left", fontweight="bold", color=INK)
    ax.set_title(f"cost {cost_text(result.instance, result.cost)}", loc="right", fontsize="medium", color=INK)
    return ax

"""What `solve` returns."""

from dataclasses import dataclass
from typing import Any

from dact.instances import Instance, Routes
from dact.instances.stop_lists import COLUMNS, stop_rows
from dact.plotting import cost_with_unit
from dact.search import Trace


@dataclass(frozen=True, kw_only=True)
class Result:
    """The best solution found, its cost by the instance's own rule, and how it was found."""

    instance: Instance
    routes: Routes
    """Customers of each route, or the one tour where there is no depot, as instance indices."""
    cost: float
    """Recomputed in float64 by code that is independent of the search."""
    start_cost: float
    feasible: bool
    steps: int
    seconds: float
    seed: int
    search: str
    """Name of the search method."""
    weights: str | None
    """Name of the weights; None if the search method uses none."""
    trace: Trace
    interrupted: bool = False
    start_routes: Routes = ()
    """Where the search began."""
    local_optimum: bool = False
    """True if no move of the local search improves the solution."""
    walks: int = 1
    """Rows that searched the instance side by side; of the policy search its augmentations."""
    walks_apart: float = 0.0
    """Mean share of the legs of their last tours that the answer does not have."""
    repairs: tuple[str, ...] = ()
    """What was changed in an earlier solution to start from it: customers dropped and inserted, routes split."""
    fault: str = ""
    """Not empty if the search returned an infeasible tour, which is a bug of DACT. The answer is then the best feasible
    solution known, at least the start."""

    def __repr__(self) -> str:
        """The figures, without routes and trace."""
        instance = self.instance
        facts = [instance.sizes, f"cost {cost_with_unit(instance, self.cost)}"]
        facts += [] if self.gap is None else [f"gap {self.gap:.2f} %"]
        facts += [f"{len(self.routes)} route{'s' if len(self.routes) != 1 else ''}"] if instance.facts.depot else []
        return f"Result({', '.join(facts)}, {self.seconds:.1f} s)"

    def to_frame(self) -> Any:  # noqa: ANN401 - of a package that may be missing
        """A DataFrame with a row for each stop: route, stop, name, load, leg, distance. Needs pandas."""
        try:
            import pandas
        except ImportError:
            raise ImportError("pandas is not installed, which to_frame needs: pip install pandas") from None
        return pandas.DataFrame(stop_rows(self.instance, self.routes), columns=list(COLUMNS))

    @property
    def gap(self) -> float | None:
        """Percent above the best known value; None without one."""
        return self.instance.gap(self.cost)

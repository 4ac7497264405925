"""What can be drawn, and how its numbers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from dact.instances import Instance, Routes
from dact.instances.distances import RULES

if TYPE_CHECKING:
    from dact.search import Trace


class Solution(Protocol):
    """The part of a result that pictures show."""

    @property
    def instance(self) -> Instance:
        """What was solved."""
        ...

    @property
    def routes(self) -> Routes:
        """Instance indices, without the depot."""
        ...

    @property
    def cost(self) -> float:
        """By the instance's own rule."""
        ...

    @property
    def gap(self) -> float | None:
        """Percent above the best known value."""
        ...

    @property
    def steps(self) -> int:
        """Steps of the search."""
        ...

    @property
    def trace(self) -> Trace:
        """The moments at which the best cost fell."""
        ...


def whole_costs(instance: Instance) -> bool:
    """Do all solutions of the instance cost a whole number?"""
    if instance.matrix is not None:
        return bool((instance.matrix % 1 == 0).all())
    return RULES[instance.rule][1] != "none"


def cost_with_unit(instance: Instance, cost: float) -> str:
    """A cost for people, with its unit where it has one."""
    return cost_text(instance, cost) + (" km" if instance.kilometres else "")


def cost_text(instance: Instance, cost: float) -> str:
    """A cost for people: whole where the rule rounds, else with five digits or more."""
    if whole_costs(instance):
        return f"{cost:,.0f}"
    return f"{cost:,.2f}" if cost >= 1000 else f"{cost:.5g}"

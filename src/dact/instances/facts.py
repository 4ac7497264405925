"""Facts about each problem. Readers, writers, checks and plots use these instead of the problem's name."""

from dataclasses import dataclass

from dact.instances.errors import InputError, shown


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One problem. To add a problem: a record here, its file in `dact.problems`, a line in PROBLEMS, its test."""

    name: str
    title: str
    """Name in messages, and TYPE in TSPLIB files."""
    depot: bool
    """Node 0 is a depot where routes start; without a depot, a solution is one tour of all nodes."""
    capacity: bool
    """Customers have demands, and vehicles a capacity."""
    returns: bool = True
    """Routes end where they start."""
    suffix: str
    """Usual extension of solution files (JSON and CSV are possible for all)."""
    by_id: bool
    """Solutions name nodes by their ids in the instance's file; else customers by their numbers 1..n."""

    @property
    def first(self) -> int:
        """Index of the first customer."""
        return int(self.depot)

    def customers(self, nodes: int) -> int:
        """Number of customers, given the number of nodes. Weights are chosen by it."""
        return nodes - self.first


FACTS = {
    facts.name: facts
    for facts in (
        Facts(name="tsp", title="TSP", depot=False, capacity=False, suffix=".tour", by_id=True),
        Facts(name="cvrp", title="CVRP", depot=True, capacity=True, suffix=".sol", by_id=False),
    )
}


def usual_problem(*, capacity: bool) -> str:
    """The problem of files and arrays that do not name one: the first in FACTS with or without a capacity."""
    return next(facts.name for facts in FACTS.values() if facts.capacity == capacity)


def facts_of(problem: object) -> Facts:
    """The facts of a problem by its name; an unknown one is refused."""
    if not isinstance(problem, str) or problem not in FACTS:
        raise InputError(f"problem {shown(problem)} is neither {' nor '.join(FACTS)}")
    return FACTS[problem]

"""What kind of problem each one is: the facts that readers, writers and reports ask for instead of a name."""

from dataclasses import dataclass

from dact.instances.errors import InputError, shown


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One problem. To add a problem: a record here, its file in `dact.problems`, a line in PROBLEMS, its test."""

    name: str
    title: str
    """In messages."""
    depot: bool
    """Is node 0 a depot, which routes start from and which is no customer?"""
    capacity: bool
    """Do customers have demands, and vehicles a capacity?"""
    returns: bool = True
    """Do routes end where they start?"""

    def customers(self, nodes: int) -> int:
        """How many of so many nodes are customers. Weights are chosen by this number."""
        return nodes - self.depot


FACTS = {
    facts.name: facts
    for facts in (
        Facts(name="tsp", title="TSP", depot=False, capacity=False),
        Facts(name="cvrp", title="CVRP", depot=True, capacity=True),
    )
}


def facts_of(problem: object) -> Facts:
    """The facts of a problem by its name; an unknown one is refused."""
    if problem not in FACTS:
        raise InputError(f"problem {shown(problem)} is neither {' nor '.join(FACTS)}")
    return FACTS[str(problem)]

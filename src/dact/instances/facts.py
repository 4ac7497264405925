"""What kind of problem each one is: the facts that readers, writers, checks and pictures ask for instead of a name."""

from dataclasses import dataclass

from dact.instances.errors import InputError, shown


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One problem. To add a problem: a record here, its file in `dact.problems`, a line in PROBLEMS, its test."""

    name: str
    title: str
    """In messages, and as the TYPE of TSPLIB files."""
    depot: bool
    """Node 0 is a depot, from which several routes start; without one, a solution is one tour of all nodes."""
    capacity: bool
    """Customers have demands, and vehicles a capacity."""
    returns: bool = True
    """Routes end where they start."""
    suffix: str
    """Of solution files; JSON will do as well."""
    by_id: bool
    """Solutions name nodes by their ids in the instance's file; else customers by their numbers 1..n."""

    @property
    def first(self) -> int:
        """Index of the first customer."""
        return int(self.depot)

    def customers(self, nodes: int) -> int:
        """How many of so many nodes are customers. Weights are chosen by this number."""
        return nodes - self.first


FACTS = {
    facts.name: facts
    for facts in (
        Facts(name="tsp", title="TSP", depot=False, capacity=False, suffix=".tour", by_id=True),
        Facts(name="cvrp", title="CVRP", depot=True, capacity=True, suffix=".sol", by_id=False),
    )
}


def facts_of(problem: object) -> Facts:
    """The facts of a problem by its name; an unknown one is refused."""
    if not isinstance(problem, str) or problem not in FACTS:
        raise InputError(f"problem {shown(problem)} is neither {' nor '.join(FACTS)}")
    return FACTS[problem]

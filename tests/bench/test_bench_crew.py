"""The processes in which other solvers run."""

import pytest

from dact.instances import check, generate_set
from dact.peers import Crew, PeerError, Task
from fake_peers import FAKE, broken, named


def test_copies_of_a_file_give_answers_of_their_own(problem_name: str):
    """Each is a solution of the instance as it is; on a tour in the order of the nodes their costs differ."""
    instance = generate_set(problem_name, 7, 3, seed=5)[0]
    with Crew(FAKE, 2, instance) as crew:
        solved, _ = crew.solve([[Task(0, instance, 0.1, copy)] for copy in range(2)], 0.1, lambda fraction: None)
    verdicts = [check(instance, each.routes) for each in solved]
    assert all(verdict.feasible for verdict in verdicts)
    assert (len({round(verdict.cost, 6) for verdict in verdicts}) == 1) == instance.facts.depot


def test_a_crew_that_cannot_import():
    """A package that is there but broken is a failure with its reason."""
    instance = generate_set("cvrp", 7, 1, seed=5)[0]
    with Crew(named("Broken", solve=broken), 1, instance) as crew, pytest.raises(PeerError, match="nowhere"):
        crew.solve([[Task(0, instance, 0.1)]], 0.1, lambda fraction: None)

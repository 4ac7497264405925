"""Tours, their inverses and rotations."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from begun import is_permutation
from dact import tours

permutations = st.integers(1, 12).flatmap(lambda size: st.permutations(range(size)))


@given(permutations)
def test_position_inverts_tour(order: list[int]) -> None:
    """The node at the position of node v is v."""
    tour_BN = torch.tensor([order])
    assert tour_BN.gather(1, tours.position(tour_BN)).tolist() == [sorted(order)]


@given(permutations)
def test_successors_follow_the_tour(order: list[int]) -> None:
    """The successor of each node is the next one in the order given, and the last one's is the first."""
    successor = tours.successor(torch.tensor([order]))[0].tolist()
    assert [successor[node] for node in order] == [*order[1:], order[0]]


@given(permutations)
def test_anchor_keeps_the_cycle(order: list[int]) -> None:
    """Anchoring puts node 0 first and changes no successor."""
    tour_BN = torch.tensor([order])
    anchored_BN = tours.anchor(tour_BN)
    assert anchored_BN[0, 0] == 0
    assert torch.equal(tours.successor(anchored_BN), tours.successor(tour_BN))


def test_successor_by_hand() -> None:
    """In the tour 2 0 1, node 2 leads to 0, 0 to 1 and 1 back to 2."""
    assert tours.successor(torch.tensor([[2, 0, 1]])).tolist() == [[1, 2, 0]]


def test_is_permutation_sees_a_repeated_node() -> None:
    """A row that visits a node twice is no permutation."""
    assert is_permutation(torch.tensor([[0, 2, 1], [0, 2, 2]])).tolist() == [True, False]


def test_in_tour_order_moves_vectors_with_their_nodes() -> None:
    """Entry p belongs to the node at position p, for numbers and for vectors."""
    value_BN = torch.tensor([[10, 11, 12]])
    tour_BN = torch.tensor([[0, 2, 1]])
    assert tours.in_tour_order(value_BN, tour_BN).tolist() == [[10, 12, 11]]
    assert tours.in_tour_order(value_BN.unsqueeze(2), tour_BN).flatten().tolist() == [10, 12, 11]


def test_legs_that_another_tour_lacks() -> None:
    """Directions do not matter; copies of a depot are one place, and legs between them do not count."""
    tour_BN, other_BN = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 3]]), torch.tensor([[0, 3, 2, 1], [0, 2, 1, 3]])
    assert tours.legs_apart(tour_BN, other_BN).tolist() == [0.0, 0.5]
    routes_BN, others_BN = torch.tensor([[0, 3, 4, 1, 2, 5]]), torch.tensor([[0, 4, 3, 2, 5, 1]])
    assert tours.legs_apart(routes_BN, others_BN, depots=3).tolist() == [0.0]
    assert tours.legs_apart(routes_BN, torch.tensor([[0, 4, 5, 1, 3, 2]]), depots=3).tolist() == [pytest.approx(0.2)]

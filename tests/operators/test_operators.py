"""Operators by hand, against naive list surgery, and the properties each one has."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from begun import is_permutation
from dact import tours
from dact.operators import OPERATORS, insert, swap, two_opt


def naive_two_opt(tour: list[int], first: int, second: int) -> list[int]:
    """Rotate so that `first` leads, reverse up to `second`."""
    turned = tour[first:] + tour[:first]
    cut = turned.index(tour[second]) + 1
    return turned[:cut][::-1] + turned[cut:]


def naive_insert(tour: list[int], first: int, second: int) -> list[int]:
    """Take the node out and put it back after the other."""
    if first == second:
        return tour
    rest = [node for node in tour if node != tour[first]]
    place = rest.index(tour[second]) + 1
    return [*rest[:place], tour[first], *rest[place:]]


def naive_swap(tour: list[int], first: int, second: int) -> list[int]:
    """Exchange two entries."""
    changed = list(tour)
    changed[first], changed[second] = changed[second], changed[first]
    return changed


NAIVE: dict[str, Callable[[list[int], int, int], list[int]]] = {
    "two_opt": naive_two_opt,
    "insert": naive_insert,
    "swap": naive_swap,
}


def edges(tour: list[int]) -> set[frozenset[int]]:
    """A cyclic tour as undirected edges."""
    return {frozenset(pair) for pair in zip(tour, tour[1:] + tour[:1], strict=True)}


@st.composite
def tour_and_move(draw: st.DrawFn) -> tuple[list[int], int, int]:
    """An anchored tour and two positions of it."""
    size = draw(st.integers(2, 11))
    tour = [0, *draw(st.permutations(range(1, size)))]
    return tour, draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))


@pytest.mark.parametrize("name", sorted(OPERATORS))
@given(case=tour_and_move())
def test_operator_equals_naive_surgery(name: str, case: tuple[list[int], int, int]) -> None:
    """As undirected cycles, the index formula and list surgery agree; the result is an anchored permutation."""
    tour, first, second = case
    changed_BN = OPERATORS[name](torch.tensor([tour]), torch.tensor([[first, second]]))
    assert edges(changed_BN[0].tolist()) == edges(NAIVE[name](tour, first, second))
    assert changed_BN[0, 0] == 0
    assert is_permutation(changed_BN).all()


@given(case=tour_and_move())
def test_reversing_a_segment_twice_gives_the_tour_back(case: tuple[list[int], int, int]) -> None:
    """2-opt on the same positions undoes itself."""
    tour_BN, move_B2 = torch.tensor([case[0]]), torch.tensor([case[1:]])
    assert torch.equal(two_opt(two_opt(tour_BN, move_B2), move_B2), tour_BN)


def test_operators_by_hand() -> None:
    """The pair (2, 1) of the paper's figure and its neighbours, on the tour 0 1 2 3 4 5."""
    tour_BN = torch.arange(6).unsqueeze(0)

    def after(operator: Callable[..., torch.Tensor], first: int, second: int) -> list[int]:
        result: list[int] = operator(tour_BN, torch.tensor([[first, second]]))[0].tolist()
        return result

    assert after(two_opt, 1, 3) == [0, 3, 2, 1, 4, 5]
    assert after(two_opt, 5, 0) == [0, 4, 3, 2, 1, 5]
    assert after(two_opt, 2, 1) == [0, 1, 2, 3, 4, 5]
    assert after(insert, 4, 1) == [0, 1, 4, 2, 3, 5]
    assert after(insert, 1, 4) == [0, 2, 3, 4, 1, 5]
    assert after(insert, 0, 2) == [0, 3, 4, 5, 1, 2]
    assert after(swap, 2, 4) == [0, 1, 4, 3, 2, 5]
    assert after(swap, 0, 2) == [0, 3, 4, 5, 2, 1]


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_rows_do_not_mix(name: str) -> None:
    """A batch gives what its rows give one by one."""
    generator = torch.Generator().manual_seed(3)
    tour_BN = tours.anchor(torch.rand(20, 9, generator=generator).argsort(1))
    move_B2 = torch.randint(9, (20, 2), generator=generator)
    together_BN = OPERATORS[name](tour_BN, move_B2)
    for row in range(20):
        assert torch.equal(OPERATORS[name](tour_BN[row : row + 1], move_B2[row : row + 1])[0], together_BN[row])

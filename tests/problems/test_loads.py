"""Loads are exact whatever the units of demands and capacities."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dact.instances import InputError, Instance, InstanceSet, check
from dact.operators import OPERATORS
from dact.problems import PROBLEMS
from dact.problems.capacity import CLOSED_FORMS
from dact.problems.loads import MOST, searched_loads

CVRP = PROBLEMS["cvrp"]


def instance(demand: list[int], capacity: int) -> Instance:
    """Customers on a line."""
    points = np.stack((np.arange(len(demand) + 1.0), np.zeros(len(demand) + 1)), axis=1)
    return Instance(
        name="i", problem="cvrp", rule="euc_2d", coordinates=points, demand=np.array([0, *demand]), capacity=capacity
    )


@pytest.mark.parametrize(
    ("demand", "capacity"),
    [
        ([1_500_000_000] * 4, 2_000_000_000),
        ([1_500_000_001] * 4, 2_000_000_000),
        ([10**12, 10**12, 5 * 10**11], 10**12),
        ([3, 4, 5], 2**32),
        ([3, 4, 5], 10**12),
        ([0, 0, 0], 10**12),
        ([2**29, 2**29 - 1], 2**29),
    ],
)
def test_starts_are_feasible_in_any_units(demand: list[int], capacity: int) -> None:
    """Starts of instances with huge demands and capacities pass the checker, which adds the original numbers."""
    batch = CVRP.collate([instance(demand, capacity)])
    starts = (CVRP.greedy_start(batch), CVRP.random_start(batch, torch.tensor([5])))
    for tour_BN in starts:
        verdict = check(instance(demand, capacity), CVRP.routes(batch, tour_BN[0].tolist()))
        assert verdict.feasible, verdict.violations
    assert batch.demand_BN.dtype == batch.capacity_B.dtype == torch.int32


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=6),
    st.integers(0, 8),
    st.sampled_from([1, 7, 10**6, 2**30, 10**10]),
    st.integers(0, 10**10 - 1),
)
def test_allowed_moves_do_not_depend_on_the_unit(shares: list[int], spare: int, unit: int, rest: int) -> None:
    """Demands in another unit, and a capacity with a rest that no load uses, allow the same moves."""
    room = max(max(shares), 1) + spare
    small = CVRP.collate([instance(shares, room)])
    large = CVRP.collate([instance([share * unit for share in shares], room * unit + rest % unit)])
    tour_BN = CVRP.random_start(small, torch.tensor([3]))
    assert torch.equal(tour_BN, CVRP.random_start(large, torch.tensor([3])))
    for name, allowed in CLOSED_FORMS.items():
        assert torch.equal(allowed(small, tour_BN), allowed(large, tour_BN)), name
    assert len(CLOSED_FORMS) == len(OPERATORS)


def test_small_numbers_stay_as_they_are() -> None:
    """Ordinary instances are searched with their own numbers, which the policy was trained on."""
    demand_MN, capacity_M = np.array([[0, 4, 8]]), np.array([100])
    same, room = searched_loads(demand_MN, capacity_M)
    assert (same.tolist(), room.tolist()) == (demand_MN.tolist(), [100])


def test_what_cannot_be_exact_is_refused() -> None:
    """Demands without a common factor whose sum is too large are refused with the bound."""
    with pytest.raises(InputError, match=f"the demands of i, .* add up to {MOST + 2}, above the {MOST}"):
        CVRP.collate([instance([MOST, 2], MOST)])
    CVRP.collate([instance([MOST - 2, 2], MOST)])


def test_sets_are_exact_too() -> None:
    """A set whose rows have different units is searched row by row in its own."""
    demand = np.array([[0, 1, 2], [0, 10**12, 10**12]])
    instances = InstanceSet(
        name="s", problem="cvrp", coordinates=np.ones((2, 3, 2)), demand=demand, capacity=np.array([3, 10**12])
    )
    batch = CVRP.collate_set(instances)
    assert batch.demand_BN[:, batch.depots :].tolist() == [[1, 2], [1, 1]]
    assert batch.capacity_B.tolist() == [3, 1]
    with pytest.raises(InputError, match="the demands of instance 1, divided by"):
        CVRP.collate_set(
            InstanceSet(
                name="s",
                problem="cvrp",
                coordinates=np.ones((2, 3, 2)),
                demand=demand + np.array([[0, 0, 0], [0, 0, -1]]),
                capacity=np.array([3, 10**12]),
            )
        )

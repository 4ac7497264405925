"""Loads and masks of the CVRP, against trial and by hand."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dact.operators import OPERATORS
from dact.problems import Batch, Cvrp, capacity
from dact.problems.construct import tour_of

KOOL = (st.integers(1, 9), st.integers(9, 30))
X_LIKE = (st.integers(1, 100), st.integers(100, 1816))
ZEROS = (st.integers(0, 3), st.integers(3, 6))
HUGE = (st.integers(10**7, 4 * 10**7 + 1), st.integers(4 * 10**7 + 1, 10**8))


def make_batch(demand: list[int], room: int, depots: int) -> Batch:
    """One instance with coordinates that do not matter."""
    size = len(demand) + depots
    return Batch(
        coordinates_BN2=torch.rand(1, size, 2, generator=torch.Generator().manual_seed(0)),
        scale_B=torch.ones(1),
        demand_BN=torch.tensor([[0] * depots + demand], dtype=torch.int32),
        capacity_B=torch.tensor([room], dtype=torch.int32),
        depots=depots,
    )


@st.composite
def loaded_tours(draw: st.DrawFn) -> tuple[Batch, torch.Tensor]:
    """A feasible tour: customers in random order, cut whenever the vehicle is full, spare depots anywhere."""
    demands, rooms = draw(st.sampled_from([KOOL, X_LIKE, ZEROS, HUGE]))
    demand = draw(st.lists(demands, min_size=1, max_size=6))
    room = max(draw(rooms), max(demand))
    routes: list[list[int]] = [[]]
    load = 0
    for customer in draw(st.permutations(range(1, len(demand) + 1))):
        if load + demand[customer - 1] > room or draw(st.booleans()):
            routes.append([])
            load = 0
        routes[-1].append(customer)
        load += demand[customer - 1]
    depots = max(2, len(routes) + draw(st.integers(0, 2)))
    routes += [[] for _ in range(depots - len(routes))]
    mixed = draw(st.permutations(routes))
    return make_batch(demand, room, depots), torch.tensor([tour_of(mixed, depots)])


@pytest.mark.parametrize("name", sorted(OPERATORS))
@settings(deadline=None, max_examples=150)
@given(case=loaded_tours())
def test_exactly_the_feasible_moves_are_allowed(name: str, case: tuple[Batch, torch.Tensor]) -> None:
    """The mask is True where applying the move overloads no vehicle, and only there."""
    batch, tour_BN = case
    assert capacity.feasible(batch, tour_BN).all()
    expected = capacity.by_trial(batch, tour_BN, OPERATORS[name])
    found = Cvrp().allowed_moves(batch, tour_BN, OPERATORS[name])
    assert found is not None
    assert found.tolist() == expected.tolist()


@settings(deadline=None, max_examples=60)
@given(case=loaded_tours(), seed=st.integers(0, 99))
def test_feasible_agrees_with_counting(case: tuple[Batch, torch.Tensor], seed: int) -> None:
    """In any order of the nodes, `feasible` says what counting loads one customer at a time says."""
    batch, _ = case
    order = [0, *(1 + torch.randperm(batch.length - 1, generator=torch.Generator().manual_seed(seed))).tolist()]
    heaviest = load = 0
    for node in order:
        load = 0 if node < batch.depots else load + int(batch.demand_BN[0, node])
        heaviest = max(heaviest, load)
    assert bool(capacity.feasible(batch, torch.tensor([order]))) == (heaviest <= int(batch.capacity_B))


def test_loads_by_hand() -> None:
    """Routes (1, 2) and (3) with demands 4, 5, 6: what each place sees before and from itself on."""
    batch = make_batch([4, 5, 6], 10, 2)
    around = capacity.loads(batch, torch.tensor([[0, 2, 3, 1, 4]]))
    assert around.route_BN.tolist() == [[0, 0, 0, 1, 1]]
    assert around.before_BN.tolist() == [[6, 0, 4, 9, 0]]
    assert around.since_BN.tolist() == [[9, 9, 5, 6, 6]]


def test_two_opt_across_routes_by_hand() -> None:
    """Reversing customer 2, depot, customer 3 would put 4 + 6 and 5 on the road: allowed at 10, not at 9."""
    tour_BN = torch.tensor([[0, 2, 3, 1, 4]])
    assert bool(capacity.two_opt_allowed(make_batch([4, 5, 6], 10, 2), tour_BN)[0, 2, 4])
    assert not bool(capacity.two_opt_allowed(make_batch([4, 5, 6], 9, 2), tour_BN)[0, 2, 4])


def test_an_unknown_operator_is_masked_by_trial() -> None:
    """A new operator needs no closed form."""

    def rotate_customers(tour_BN: torch.Tensor, move_B2: torch.Tensor) -> torch.Tensor:
        return OPERATORS["swap"](tour_BN, move_B2)

    batch, tour_BN = make_batch([4, 5, 6], 9, 2), torch.tensor([[0, 2, 3, 1, 4]])
    expected = capacity.swap_allowed(batch, tour_BN)
    assert torch.equal(Cvrp().allowed_moves(batch, tour_BN, rotate_customers), expected)

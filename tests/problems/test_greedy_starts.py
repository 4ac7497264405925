"""Greedy starts of large instances."""

import pytest
import torch
from torch import Generator, Tensor

from dact.problems import PROBLEMS, Batch, nearest

SIZE = 90


def drawn(name: str, **changes: Tensor) -> Batch:
    """Four random instances, with something changed."""
    batch = PROBLEMS[name].sample(SIZE, 4, Generator().manual_seed(5))
    return type(batch)(**{**vars(batch), **changes})


def scarce() -> Batch:
    """Vehicles that hold all customers only if they are packed well."""
    demand_BN = drawn("cvrp").demand_BN.clamp(max=1) * 5
    demand_BN[:, -45:] = 3
    return drawn("cvrp", demand_BN=demand_BN, capacity_B=torch.full((4,), 18, dtype=torch.int32))


@pytest.mark.parametrize(("name", "batch"), [("tsp", drawn("tsp")), ("cvrp", drawn("cvrp")), ("cvrp", scarce())])
def test_greedy_starts_of_large_instances(name: str, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same tours as for small ones, and the same packing where depots run out."""
    plain_BN = PROBLEMS[name].greedy_start(batch)
    monkeypatch.setattr(nearest, "LARGE", SIZE)
    assert nearest.suits(batch)
    assert torch.equal(PROBLEMS[name].greedy_start(batch), plain_BN)


def test_rows_without_depots_left_are_named() -> None:
    """Going to the nearest customer packs vehicles badly."""
    assert nearest.nearest_tours(scarce())[1].any()
    assert not nearest.nearest_tours(drawn("cvrp"))[1].any()


@pytest.mark.parametrize("name", PROBLEMS)
def test_of_equally_near_customers_the_first_is_visited(name: str) -> None:
    """On a lattice with nodes in the same places, every step goes to the nearest one, of these to the lowest number."""
    lattice_BN2 = (8 * drawn(name).coordinates_BN2).round()
    batch = drawn(name, coordinates_BN2=lattice_BN2)
    tour_BN, _ = nearest.nearest_tours(batch)
    for row, tour_N in enumerate(tour_BN.tolist()):
        room = int(batch.capacity_B[row])
        for place in range(1, len(tour_N)):
            here, there = tour_N[place - 1 : place + 1]
            if there < batch.depots:
                room = int(batch.capacity_B[row])
                continue
            waiting = sorted(node for node in tour_N[place:] if node >= batch.depots)
            fitting = [node for node in waiting if batch.demand_BN[row, node] <= room]
            squared = (lattice_BN2[row, fitting] - lattice_BN2[row, here]).square().sum(1)
            assert there == fitting[int(squared.argmin())]
            room -= int(batch.demand_BN[row, there])

"""Fingerprints: equal for the same legs, different otherwise, and the kernel's are the reference's."""

import pytest
import torch

from dact.kernels.fingerprint import fingerprints_reference


def drawn(rows: int, size: int, device: str = "cpu") -> torch.Tensor:
    """Random tours from node 0."""
    torch.manual_seed(size)
    rest = torch.stack([1 + torch.randperm(size - 1) for _ in range(rows)])
    return torch.cat((torch.zeros(rows, 1, dtype=torch.long), rest), dim=1).to(device)


def test_the_direction_and_the_first_node_do_not_count() -> None:
    """A tour that is turned round or begins elsewhere has the same legs."""
    tour = drawn(5, 9)
    expected = fingerprints_reference(tour, 0)
    assert torch.equal(fingerprints_reference(tour.flip(1), 0), expected)
    assert torch.equal(fingerprints_reference(tour.roll(3, 1), 0), expected)


def test_routes_may_turn_round_and_change_places() -> None:
    """Copies of the depot (0, 1, 2) are one place, and empty routes count nothing."""
    routes = torch.tensor([[0, 3, 4, 5, 1, 6, 7, 2], [0, 7, 6, 1, 3, 4, 5, 2], [1, 2, 5, 4, 3, 0, 6, 7]])
    assert len(set(fingerprints_reference(routes, 3).tolist())) == 1
    assert len(set(fingerprints_reference(routes, 0).tolist())) == 3


def test_other_tours_have_other_numbers() -> None:
    """All 360 tours through seven nodes differ."""
    rest = torch.cartesian_prod(*[torch.arange(1, 7)] * 6)
    tours = rest[(rest.sort(1).values == torch.arange(1, 7)).all(1)]
    tours = torch.cat((torch.zeros(len(tours), 1, dtype=torch.long), tours), dim=1)
    assert len(set(fingerprints_reference(tours, 0).tolist())) == 360


@pytest.mark.parametrize("depots", [0, 1, 4])
@pytest.mark.parametrize("size", [4, 31, 33, 65])
@pytest.mark.usefixtures("poisoned")
def test_the_kernel_is_the_reference(size: int, depots: int, device: str) -> None:
    """Bit for bit."""
    pytest.importorskip("triton")
    from dact.kernels.fingerprint.triton_impl import fingerprints_triton

    tour = drawn(3, size, device)
    assert torch.equal(fingerprints_triton(tour, depots), fingerprints_reference(tour, depots))

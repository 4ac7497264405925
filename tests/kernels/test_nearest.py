"""Neighbours in the plane, found without looking at all pairs."""

import numpy as np
import pytest
import torch

from dact.kernels.descent import nearest, terrain

NODES = 700


def shapes() -> dict[str, np.ndarray]:
    """Points with many ties, few ties, and none."""
    rng = np.random.default_rng(0)
    far = rng.random((NODES, 2)) / 1000
    far[-1] = 1.0
    return {
        "anywhere": rng.random((NODES, 2)),
        "a grid": rng.integers(0, 20, (NODES, 2)) / 19,
        "a line": np.column_stack((np.arange(NODES) % 350, np.zeros(NODES))),
        "one place": np.full((NODES, 2), 0.25),
        "two places": np.repeat([[0.0, 0.0], [1.0, 1.0]], NODES // 2, axis=0),
        "one far away": far,
    }


@pytest.mark.parametrize("shape", shapes())
@pytest.mark.parametrize(("depots", "count"), [(0, 10), (9, 16), (1, 1), (3, NODES - 4), (0, 100)])
def test_neighbours_are_those_of_all_pairs(
    shape: str, depots: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same customers in the same order, of equally near ones the lowest number first."""
    points_IN2 = torch.from_numpy(shapes()[shape]).float()[None]
    points_IN2[:, :depots] = points_IN2[:, :1]
    which_I = torch.zeros(1, dtype=torch.int32)
    found_INK = terrain._nearest(points_IN2, None, which_I, depots, count)
    monkeypatch.setattr(terrain, "FEW", NODES)
    assert torch.equal(found_INK, terrain._nearest(points_IN2, None, which_I, depots, count))


def test_pairs_are_held_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The portions do not change what is found."""
    points_N2 = shapes()["one place"]
    whole_NK = nearest.nearest_in_plane(points_N2, 0, 5)
    monkeypatch.setattr(nearest, "PAIRS", 1000)
    assert np.array_equal(nearest.nearest_in_plane(points_N2, 0, 5), whole_NK)

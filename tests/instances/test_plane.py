"""Points in a plane for distance matrices."""

import numpy as np
import pytest

from dact.instances import plane


@pytest.mark.parametrize("scatter", [0.0, 0.5])
def test_large_matrices_as_small_ones(scatter: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick way for large matrices finds the points that all eigenvectors give, on a plane or beside it."""
    rng = np.random.default_rng(1)
    place = rng.random((60, 2)) * [3, 1]
    matrix = np.linalg.norm(place[:, None] - place[None], axis=2) * rng.uniform(1, 1 + scatter, (60, 60))
    exact = plane.plane_from_matrix(matrix)
    monkeypatch.setattr(plane, "EXACT", 10)
    monkeypatch.setattr(plane, "ROUNDS", 10)
    assert np.allclose(plane.plane_from_matrix(matrix), exact, atol=1e-6)

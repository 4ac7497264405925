"""Position encodings."""

import numpy as np
import pytest
import torch

from dact.policy import PositionConfig
from dact.policy.positions import code_wavelengths, cyclic, encoding, paper_wavelengths, sinusoidal


def test_paper_wavelengths_by_hand() -> None:
    """Eq. 9 at N = 16, dim = 4: the shortest is 4, dimension 0 and 1 share theirs, the last half has N."""
    assert paper_wavelengths(16, 4).tolist() == [7.0, 7.0, 16.0, 16.0]


def test_cyclic_by_hand() -> None:
    """Eq. 4 at N = 4 with wavelength 4: z = 0..3, |z mod 8 - 4| = 4, 3, 2, 1 quarters of a turn."""
    table = cyclic(4, np.array([4.0, 4.0]))
    np.testing.assert_allclose(table[:, 0], [0, -1, 0, 1], atol=1e-12)
    np.testing.assert_allclose(table[:, 1], [1, 0, -1, 0], atol=1e-12)


@pytest.mark.parametrize("kind", ["cyclic", "cyclic_paper"])
@pytest.mark.parametrize("length", [20, 50, 101])
def test_head_and_tail_are_neighbours_in_a_cyclic_encoding(kind: str, length: int) -> None:
    """The step from the last position to the first is about as small as the others; not so for sinusoids."""
    table = encoding(length, 64, PositionConfig(kind=kind)).double()
    steps = (table.roll(-1, 0) - table).norm(dim=1)
    far = (table.roll(-length // 2, 0) - table).norm(dim=1).mean()
    assert steps[-1] < 1.6 * steps[:-1].mean()
    assert steps.mean() < far
    absolute = torch.from_numpy(sinusoidal(length, 64))
    assert (absolute[0] - absolute[-1]).norm() > 1.6 * (absolute[1:] - absolute[:-1]).norm(dim=1).mean()


def test_wavelengths_of_the_trained_size_can_be_kept() -> None:
    """At the trained length both strategies agree; at another they differ."""
    same = encoding(50, 64, PositionConfig(wavelength_length=50))
    assert torch.equal(same, encoding(50, 64, PositionConfig()))
    assert not torch.equal(encoding(100, 64, PositionConfig(wavelength_length=50)), encoding(100, 64, PositionConfig()))


def test_code_wavelengths_are_whole_and_grow() -> None:
    """Integers, never falling, the last half at N."""
    waves = code_wavelengths(100, 64)
    assert (waves == waves.astype(int)).all()
    assert (np.diff(waves) >= 0).all()
    assert (waves[33:] == 100).all()


@pytest.mark.parametrize("kind", ["cyclic", "cyclic_paper", "sinusoidal"])
@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_tiny_tours_have_finite_encodings(kind: str, length: int) -> None:
    """No length is too short."""
    assert torch.isfinite(encoding(length, 64, PositionConfig(kind=kind))).all()


def test_a_wrong_kind_is_named() -> None:
    """The error says what was asked and what there is."""
    with pytest.raises(ValueError, match="position encoding 'relative' is not one of cyclic"):
        PositionConfig(kind="relative")

"""The reproductions that need neither models nor a GPU, as they are called by people."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dact.plotting.encodings import principal_components
from dact.policy.positions import PositionConfig, encoding
from dact.reproduce import Request, Table, reproduce
from dact.reproduce.gray_code import base_pattern, gray_code
from dact.reproduce.operators import moved


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    """A quick one without models."""
    return Request(out=tmp_path, quick=True, models=tmp_path / "none")


def test_gray_code_is_cyclic():
    """Neighbouring codes differ in one digit, the last and the first too."""
    digit_GN = gray_code(4)
    assert len({tuple(code) for code in digit_GN.T.tolist()}) == 16
    assert (np.abs(digit_GN - np.roll(digit_GN, 1, axis=1)).sum(axis=0) == 1).all()
    assert digit_GN[:, 0].tolist() == [1, 1, 1, 1]
    assert digit_GN[:, -1].tolist() == [1, 1, 1, 0]


def test_base_pattern_mirrors():
    """One period of Eq. 4 is the same read from either end."""
    _, *patterns = base_pattern()
    for value_P in patterns:
        np.testing.assert_allclose(value_P[1:], value_P[:0:-1], atol=1e-9)


def test_operators_move_as_the_paper_says():
    """2-opt reverses from i to j, insert puts i behind j, swap exchanges them."""
    assert moved("two_opt", (2, 6)) == [0, 1, 6, 5, 4, 3, 2, 7]
    assert moved("insert", (2, 6)) == [0, 1, 3, 4, 5, 6, 2, 7]
    assert moved("swap", (2, 6)) == [0, 1, 6, 3, 4, 5, 2, 7]


def test_principal_components():
    """Projections keep the distances of points that lie in a plane, and the shares add up to one."""
    point_N2 = np.random.default_rng(0).normal(size=(7, 2))
    projected_N2, share = principal_components(point_N2 @ np.eye(2, 5))
    apart = [np.linalg.norm(each[:, None] - each[None], axis=2) for each in (point_N2, projected_N2)]
    np.testing.assert_allclose(*apart)
    assert sum(share) == pytest.approx(1)


def test_encoding(request_: Request):
    """Head and tail are as alike as neighbours in the cyclic encoding, and not in the absolute one."""
    outcome, paths = reproduce("encoding", request_)
    assert len(paths) == 8
    (table,) = (output for output in outcome.outputs if isinstance(output, Table))
    cyclic, _, absolute = table.rows
    assert cyclic[3] > 0.9 * cyclic[1]
    assert absolute[3] < 0.9 * absolute[1]
    table_ND = encoding(20, 64, PositionConfig()).double().numpy()
    cosine = table_ND[0] @ table_ND[-1] / np.linalg.norm(table_ND[0]) / np.linalg.norm(table_ND[-1])
    assert cyclic[3] == pytest.approx(cosine)


@pytest.mark.parametrize(("name", "files"), [("gray-code", 4), ("operators", 3)])
def test_others(request_: Request, name: str, files: int):
    """All files are written; a missing model is said with the command that makes it."""
    outcome, paths = reproduce(name, replace(request_, quick=False))
    assert len(paths) == files
    assert all(path.stat().st_size > 200 for path in paths)
    assert all("`dact reproduce operators --train` trains it" in sentence for sentence in outcome.missing)
    assert len(outcome.missing) == (3 if name == "operators" else 0)

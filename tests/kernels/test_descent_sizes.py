"""Rounds of instances as large as real ones, with the usual settings: bounds on gains rule out no move that is best."""

from collections.abc import Callable

import pytest
import torch
from descent_cases import Form, begin, delivering, descent, finish, same, starts, terrain_of, travelling
from torch import Tensor

from dact.kernels.descent.job import KickConfig
from dact.kernels.descent.moves import NEIGHBOURHOODS, USUAL, codes


def _clusters(count: int, seed: int) -> Tensor:
    """Points around five centres, some of them in one place."""
    generator = torch.Generator().manual_seed(seed)
    centre_52 = torch.rand(5, 2, generator=generator)
    which_N = torch.randint(5, (count,), generator=generator)
    return (centre_52[which_N] + 0.05 * torch.randn(count, 2, generator=generator)).mul(200).round() / 200


def _demand(count: int, high: int) -> Tensor:
    return torch.randint(1, high, (count,), generator=torch.Generator().manual_seed(count))


def _rounded(points_N2: Tensor) -> Tensor:
    return torch.cdist(points_N2, points_N2).mul(1000).add(0.5).floor()


UNIFORM, CLUSTERED = torch.rand(131, 2, generator=torch.Generator().manual_seed(7)), _clusters(131, 8)
LARGE = {
    "tsp": travelling(UNIFORM),
    "tsp, clusters": travelling(CLUSTERED, _rounded(CLUSTERED)),
    "cvrp": delivering(UNIFORM, _demand(130, 10), 50, 20),
    "cvrp, clusters, long routes": delivering(CLUSTERED, _demand(130, 100), 2_000, 6, _rounded(CLUSTERED)),
    "cvrp, large demands, short routes": delivering(UNIFORM, _demand(130, 100_000), 250_000, 36),
}


@pytest.mark.parametrize(
    ("name", "overload"),
    [(name, price) for name, batch in LARGE.items() for price in ((0.0, 5.0, 500.0) if batch.depots else (0.0,))],
)
@pytest.mark.parametrize("kinds", [USUAL, tuple(NEIGHBOURHOODS)], ids=["usual", "every"])
def test_forms_agree(form_named: Callable[[str], Form], name: str, kinds: tuple[str, ...], overload: float) -> None:
    """The CPU's form, which leaves out what bounds rule out, and the CUDA source make the same moves."""
    batch, tour_BN = LARGE[name], starts(LARGE[name])
    terrain, routes, ends = terrain_of(batch, tour_BN, neighbours=16), batch.depots > 0, []
    kick = KickConfig() if routes else KickConfig(kick="bridge", size=4, window=30)
    priced = {"overload": overload, "margin": 0.03} if routes else {}
    for form in map(form_named, ("compiled", "numba")):
        ends.append(begin(terrain, tour_BN))
        moves = codes(kinds, routes=routes)
        finish(form, descent(terrain, ends[-1], kinds=moves, settings=kick, rounds=60, temperature=0.01, **priced))
    assert same(*ends)
    assert (ends[0].count_R6[:, 0] == 60).all()

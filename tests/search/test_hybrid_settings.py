"""What the settings of the hybrid search become, by problem."""

from dataclasses import replace

import pytest

from dact.search import HybridConfig
from dact.search.hybrid_settings import settled


def test_settings_that_are_asked_for_are_taken() -> None:
    """Reach, cooling and neighbourhoods of a search are the ones that were asked for."""
    config = HybridConfig(reach=1.5, cooling=0.5, neighbourhoods="two_opt+swap")
    found = settled(config, 30, 5, 1)
    assert (found.kick.reach, found.cooling, found.neighbourhoods) == (1.5, 0.5, ("two_opt", "swap"))


def test_neighbourhoods_without_moves() -> None:
    """Exchanges of tails need routes."""
    with pytest.raises(ValueError, match="'two_opt_star' have no moves for tours without depots"):
        settled(HybridConfig(neighbourhoods="two_opt_star"), 30, 0, 1)


def test_bridges_need_tours_without_depots() -> None:
    """The double bridge would tear routes apart."""
    with pytest.raises(ValueError, match="bridge"):
        settled(HybridConfig(kick="bridge"), 30, 5, 1)
    assert settled(replace(HybridConfig(), kick="bridge"), 30, 0, 1).kick.kick == "bridge"


def test_overload_is_for_routes() -> None:
    """Overloaded routes on the way are usual where there are routes."""
    usual, asked = HybridConfig(), HybridConfig(overload=0.5)
    assert settled(usual, 30, 5, 1).overload > settled(asked, 30, 5, 1).overload == 0.5
    assert settled(HybridConfig(overload=0), 30, 5, 1).overload == 0
    assert settled(usual, 30, 0, 1).overload == settled(asked, 30, 0, 1).overload == 0


def test_exchanges_between_routes() -> None:
    """swap_star is usual where there are routes."""
    usual, asked = HybridConfig(), HybridConfig(neighbourhoods="or_opt+swap_star")
    assert settled(usual, 30, 5, 1).margin == settled(asked, 30, 5, 1).margin > 0
    assert settled(usual, 30, 0, 1).margin == settled(asked, 30, 0, 1).margin == 0
    with pytest.raises(ValueError, match="'swap_star' needs another"):
        settled(HybridConfig(neighbourhoods="swap_star"), 30, 5, 1)

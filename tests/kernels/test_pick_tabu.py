"""Moves that lead back to recent tours, drawn again by the kernel as by the reference."""

import pytest
import torch

from dact.kernels.fingerprint import fingerprints
from dact.kernels.pair_logits import pair_logits_reference
from dact.kernels.pair_logits.reference import split_by_head
from dact.kernels.pick_move import ALL_MOVES, Tabu, open_pairs_reference, pick_move_reference
from dact.kernels.row_draws import new_streams
from dact.operators import two_opt
from dact.policy import PairDistribution

pytest.importorskip("triton")
from test_pick_move import CLIP, moves_so_far, network, queries_and_keys


@pytest.mark.parametrize("size", [9, 33])
@pytest.mark.usefixtures("poisoned")
def test_the_log_probability_is_that_of_the_last_draw(size: int, device: str) -> None:
    """Moves that lead back to recent tours are drawn again by the kernel as by the reference, and the chance of the one
    that is made is that among all pairs."""
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    rows = 6
    query, key = queries_and_keys(rows, size, device)
    tour, last = moves_so_far(rows, size, device)
    draws = {"draw_2B": torch.rand(2, rows, device=device, dtype=torch.float64)}
    settings = {"clip": CLIP, "tour_BN": tour, "last_move_B2": last} | draws
    first = pick_move_reference(query, key, network(device), **settings)
    # The tours behind the first draws are known, and so the moves are drawn again.
    recent = torch.stack((fingerprints(tour, 0), fingerprints(two_opt(tour, first), 0)), dim=1)
    settings["tabu"] = Tabu(tour, recent, new_streams(rows, torch.Generator(device).manual_seed(3)), two_opt, 0)
    known, drawn = torch.zeros(2, rows, device=device)
    expected = pick_move_reference(query, key, network(device), **settings, log_prob_B=known)
    actual = pick_move_triton(query, key, network(device), **settings, log_prob_B=drawn, precision="tf32x3")
    assert torch.equal(actual, expected)
    assert not (expected == first).all(1).any()
    torch.testing.assert_close(drawn, known, rtol=0, atol=1e-5)
    logits = CLIP * torch.tanh(pair_logits_reference(*split_by_head(query, key, network(device)), network(device)))
    alone = PairDistribution(logits, open_pairs_reference(tour, last, ALL_MOVES)).log_prob(actual)
    torch.testing.assert_close(drawn, alone, rtol=0, atol=1e-5)

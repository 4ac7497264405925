"""The truth: all pairs at once in plain PyTorch.

Shape letters: S aspects, B rows, N positions, H heads of an aspect, D numbers per head, E = H * D.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from dact.kernels.pair_logits.reference import Aggregation, pair_logits_reference


class Capacity(NamedTuple):
    """What 2-opt with a capacity needs to know of each position, in integers.

    Six numbers of a position: for a segment that starts there its route (-1 at a depot), what the route serves
    `before`, and the `rest` from there on; for a segment that ends there its route, what is served `until` there with
    it, and what comes `after`. Reversing a segment without a depot turns a stretch of one route. Otherwise
    what is served until its end joins what was served before it, and its own first stretch joins what comes after.
    """

    load_BN6: Tensor
    """int32."""
    room_B: Tensor


Feasible = Capacity | Tensor | None
"""By the capacity under 2-opt; by a (B, N, N) mask; every pair."""


def fold_heads(query_SDE: Tensor, key_SDE: Tensor, heads: int) -> Tensor:
    """(S, D, heads * D): matrices whose queries score against the context itself instead of keys.

    (c W_q) . (c' W_k) = (c W_q W_k^T) . c', so one matrix per head does the work of two.
    """
    shape = (*query_SDE.shape[:2], heads, -1)
    return torch.einsum("sdhk,schk->sdhc", query_SDE.view(shape), key_SDE.view(shape)).flatten(2)


def pick_move_reference(
    query_SBNE: Tensor,
    key_SBND: Tensor,
    network: Aggregation,
    *,
    clip: float,
    tour_BN: Tensor,
    last_move_B2: Tensor,
    draw_2B: Tensor | None,
    feasible: Feasible = None,
    log_prob_B: Tensor | None = None,
) -> Tensor:
    """A move_B2 per row by the two draws, or the most probable one without. The heads of an aspect share its keys.

    `last_move_B2` names nodes, not positions, and may be -1. (0, 0) where no pair is open. Moves that are drawn have
    their log-probabilities written into `log_prob_B`, if it is given.
    """
    logits_BNN = clip * torch.tanh(pair_logits_reference(*_heads(query_SBNE, key_SBND), network))
    open_BNN = open_pairs(tour_BN, last_move_B2, feasible)
    size = tour_BN.shape[1]
    if draw_2B is None:
        best_B = logits_BNN.masked_fill(~open_BNN, -torch.inf).flatten(1).argmax(1)
        return torch.stack((best_B // size, best_B % size), dim=1)
    mass_BNN = (logits_BNN.double() - clip).exp().masked_fill(~open_BNN, 0.0)
    first_B = _invert(mass_BNN.sum(2), draw_2B[0])
    row_BN = mass_BNN[torch.arange(len(first_B), device=first_B.device), first_B]
    second_B = _invert(row_BN, draw_2B[1])
    if log_prob_B is not None:
        mass_B = row_BN.gather(1, second_B.unsqueeze(1)).squeeze(1)
        log_prob_B.copy_((mass_B / mass_BNN.sum((1, 2))).log())
    return torch.stack((first_B, second_B), dim=1)


def _heads(query_SBNE: Tensor, key_SBND: Tensor) -> tuple[Tensor, Tensor]:
    """Queries and keys as (B, S * H, N, D)."""
    query_SBNHD = query_SBNE.reshape(*query_SBNE.shape[:3], -1, key_SBND.shape[3])
    query_BSHND = query_SBNHD.permute(1, 0, 3, 2, 4)
    key_BSHND = key_SBND.transpose(0, 1).unsqueeze(2).expand_as(query_BSHND)
    return query_BSHND.flatten(1, 2), key_BSHND.flatten(1, 2)


def _invert(mass_BN: Tensor, draw_B: Tensor) -> Tensor:
    """The first index with mass at which the cumulated mass exceeds draw * total; 0 where there is no mass."""
    cumulated_BN = mass_BN.cumsum(1)
    target_B1 = draw_B.unsqueeze(1) * cumulated_BN[:, -1:]
    return ((cumulated_BN > target_B1) & (mass_BN > 0)).to(torch.int8).argmax(1)


def open_pairs(tour_BN: Tensor, last_move_B2: Tensor, feasible: Feasible) -> Tensor:
    """(B, N, N): which pairs may be drawn."""
    size = tour_BN.shape[1]
    open_BNN = ~torch.eye(size, dtype=torch.bool, device=tour_BN.device)
    first_BN, second_BN = tour_BN == last_move_B2[:, :1], tour_BN == last_move_B2[:, 1:]
    last_BNN = first_BN.unsqueeze(2) & second_BN.unsqueeze(1)
    open_BNN = open_BNN & ~last_BNN & ~last_BNN.transpose(1, 2)
    if feasible is None:
        return open_BNN
    return open_BNN & (_within_capacity(feasible) if isinstance(feasible, Capacity) else feasible)


def _within_capacity(loads: Capacity) -> Tensor:
    """2-opt moves after which no route is overloaded; a segment over position 0 stands for its complement."""
    low_route_BN, before_BN, rest_BN, route_BN, until_BN, after_BN = loads.load_BN6.unbind(2)
    size = route_BN.shape[1]
    place_N = torch.arange(size, device=route_BN.device)
    first_N1, second_1N = place_N.unsqueeze(1), place_N.unsqueeze(0)
    over_start_NN = (first_N1 > second_1N) | (first_N1 == 0)
    low_NN = torch.where(over_start_NN, (second_1N + 1) % size, first_N1)
    high_NN = torch.where(over_start_NN, (first_N1 - 1) % size, second_1N)
    room_B11 = loads.room_B.view(-1, 1, 1)
    turned = low_route_BN[:, low_NN] == route_BN[:, high_NN]
    head = before_BN[:, low_NN] + until_BN[:, high_NN] <= room_B11
    tail = rest_BN[:, low_NN] + after_BN[:, high_NN] <= room_B11
    nothing_NN = over_start_NN & (low_NN == first_N1)
    return turned | (head & tail) | nothing_NN

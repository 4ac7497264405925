"""Reference in plain PyTorch, all pairs at once.

Shape letters: S aspects, B rows, N positions, H heads of an aspect, D numbers per head, E = H * D.
"""

import torch
from torch import Tensor

from dact.kernels.pair_logits.reference import Aggregation, pair_logits_reference, split_by_head
from dact.kernels.pick_move.moves import ALL_MOVES, Feasible, open_pairs_reference
from dact.kernels.pick_move.tabu import Tabu


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
    feasible: Feasible = ALL_MOVES,
    log_prob_B: Tensor | None = None,
    tabu: Tabu | None = None,
) -> Tensor:
    """A move_B2 per row by the two draws, or the most probable one without. The heads of an aspect share its keys.

    `last_move_B2` names nodes, not positions, and may be -1. (0, 0) where no pair is open. Moves that are drawn have
    their log-probabilities written into `log_prob_B`, if it is given.
    """
    logits_BNN = clip * torch.tanh(pair_logits_reference(*split_by_head(query_SBNE, key_SBND, network), network))
    open_BNN = open_pairs_reference(tour_BN, last_move_B2, feasible)
    if draw_2B is None:
        return best_pair(logits_BNN.masked_fill(~open_BNN, -torch.inf))
    mass_BNN = (logits_BNN.double() - clip).exp().masked_fill(~open_BNN, 0.0)
    move_B2 = draw_pair(mass_BNN, draw_2B) if tabu is None else draw_new(mass_BNN, draw_2B, tabu)
    if log_prob_B is not None:
        mass_B = mass_BNN[torch.arange(len(move_B2), device=move_B2.device), move_B2[:, 0], move_B2[:, 1]]
        log_prob_B.copy_((mass_B / mass_BNN.sum((1, 2))).log())
    return move_B2


def best_pair(logits_BNN: Tensor) -> Tensor:
    """The move_B2 with the largest logit of each row."""
    size = logits_BNN.shape[2]
    best_B = logits_BNN.flatten(1).argmax(1)
    return torch.stack((best_B // size, best_B % size), dim=1)


def draw_pair(mass_BNN: Tensor, draw_2B: Tensor) -> Tensor:
    """A move_B2 per row, by inverting the distribution function: first the first position, then the second.

    Draws are uniform in [0, 1), in float64, where the largest is too small to round up to the whole mass. So the
    first entry whose cumulated mass exceeds the draw always has mass of its own, and a pair without mass is never
    drawn. (0, 0) in rows without any mass.
    """
    size = mass_BNN.shape[2]
    draw_2B1 = draw_2B.unsqueeze(2)
    first_B1 = _invert(mass_BNN.sum(2), draw_2B1[0])
    row_BN = mass_BNN.gather(1, first_B1.unsqueeze(2).expand(-1, -1, size)).squeeze(1)
    return torch.cat((first_B1, _invert(row_BN, draw_2B1[1])), dim=1)


def draw_new(mass_BNN: Tensor, draw_2B: Tensor, tabu: Tabu) -> Tensor:
    """As `draw_pair`; where that leads back to a recent tour, by the spare draws in turn until one does not."""
    move_B2 = draw_pair(mass_BNN, draw_2B)
    for spare_2B in tabu.spare_draws():
        back_B = tabu.back(move_B2)
        if not move_B2.is_cuda and not back_B.any():
            break
        move_B2 = torch.where(back_B.unsqueeze(1), draw_pair(mass_BNN, spare_2B), move_B2)
    return move_B2


def _invert(mass_BN: Tensor, draw_B1: Tensor) -> Tensor:
    """(B, 1): the first index whose cumulated mass exceeds draw * total; 0 where there is no mass."""
    cumulated_BN = mass_BN.cumsum(1, dtype=torch.float64)
    target_B1 = draw_B1 * cumulated_BN[:, -1:]
    return torch.searchsorted(cumulated_BN, target_B1, right=True).remainder_(mass_BN.shape[1])

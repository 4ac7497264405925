"""A tour is one integer tensor: `tour_BN[b, p]` is the node at position `p` of row `b`.

Tours are cyclic and kept *anchored*: node 0 stands at position 0. Everything that looks at a tour (features,
encodings, allowed moves, the policy) looks at it in tour order, so a position needs no array of its own.
Shape letters: B rows, N tour length.
"""

import torch
from torch import Tensor


def position(tour_BN: Tensor) -> Tensor:
    """The inverse permutation: `position(tour)[b, v]` is where row `b` visits node `v`."""
    place_BN = torch.arange(tour_BN.shape[1], device=tour_BN.device).expand_as(tour_BN)
    return torch.empty_like(tour_BN).scatter_(1, tour_BN, place_BN.to(tour_BN.dtype))


def successor(tour_BN: Tensor) -> Tensor:
    """`successor(tour)[b, v]` is the node visited right after node `v`."""
    return torch.empty_like(tour_BN).scatter_(1, tour_BN, tour_BN.roll(-1, dims=1))


def anchor(tour_BN: Tensor) -> Tensor:
    """The same cyclic tours, rotated so that node 0 comes first."""
    size = tour_BN.shape[1]
    start_B1 = (tour_BN == 0).to(torch.int8).argmax(1, keepdim=True)
    place_N = torch.arange(size, device=tour_BN.device)
    return tour_BN.gather(1, (place_N + start_B1) % size)


def in_tour_order(values_BN: Tensor, tour_BN: Tensor) -> Tensor:
    """Per-node values (B, N) or (B, N, F), rearranged so that entry `p` belongs to the node at position `p`."""
    if values_BN.dim() == 2:
        return values_BN.gather(1, tour_BN)
    return values_BN.gather(1, tour_BN.unsqueeze(2).expand(-1, -1, values_BN.shape[2]))


def legs_apart(tour_BN: Tensor, other_BN: Tensor, depots: int = 0) -> Tensor:
    """(B,): the share of the legs of a tour, in either direction, that the other tour of its row lacks. Copies of a
    depot are one place, and legs between them do not count."""
    leg_BN, known_BN = (_legs(each_BN, depots) for each_BN in (tour_BN, other_BN.expand_as(tour_BN)))
    known_BN = known_BN.sort(1).values
    place_BN = torch.searchsorted(known_BN, leg_BN).clamp(max=known_BN.shape[1] - 1)
    counted_BN = leg_BN > 0
    lacked_BN = counted_BN & (known_BN.gather(1, place_BN) != leg_BN)
    return lacked_BN.sum(1) / counted_BN.sum(1).clamp(min=1)


def _legs(tour_BN: Tensor, depots: int) -> Tensor:
    """(B, N) a number for each leg, the same in both directions; 0 where nothing is left."""
    here_BN = torch.where(tour_BN < depots, 0, tour_BN)
    there_BN = here_BN.roll(-1, dims=1)
    lower_BN, upper_BN = torch.minimum(here_BN, there_BN), torch.maximum(here_BN, there_BN)
    return torch.where(lower_BN == upper_BN, 0, lower_BN * tour_BN.shape[1] + upper_BN)

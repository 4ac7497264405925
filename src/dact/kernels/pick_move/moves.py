"""Which moves may be drawn: the reference, all pairs at once in plain PyTorch.

Shape letters: B rows, N positions.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Feasible(NamedTuple):
    """Which moves keep a tour feasible: all of them, 2-opt moves by loads, or those of a mask.

    Loads are six integers of a position: for a span that starts there its route (-1 at a depot), what the route
    serves `before`, and the `rest` from there on; for a span that ends there its route (-2 at a depot), what is
    served `until` there with it, and what comes `after`. Reversing a span without a depot turns a stretch of one
    route. Otherwise what is served until its end joins what was served before it, and its own first stretch joins what
    comes after.
    """

    load_BN6: Tensor | None = None
    """int32."""
    room_B: Tensor | None = None
    """int32: what a vehicle can load."""
    mask_BNN: Tensor | None = None
    idle: bool = True
    """Are idle 2-opt moves, which change no route, allowed? See `close_idle`."""
    depots: int = 0
    """Nodes below it are depots."""

    def rows(self, count: int) -> "Feasible":
        """Of the first rows alone."""
        load_BN6, room_B, mask_BNN = (None if x is None else x[:count] for x in self[:3])
        return self._replace(load_BN6=load_BN6, room_B=room_B, mask_BNN=mask_BNN)


ALL_MOVES = Feasible()


def open_pairs_reference(tour_BN: Tensor, last_move_B2: Tensor, feasible: Feasible) -> Tensor:
    """(B, N, N): feasible pairs of two positions, without the last move in either order."""
    size = tour_BN.shape[1]
    open_BNN = ~torch.eye(size, dtype=torch.bool, device=tour_BN.device)
    mask_BNN = feasible_moves(tour_BN, feasible)
    if mask_BNN is not None:
        open_BNN = mask_BNN & open_BNN
    first_BN, second_BN = tour_BN == last_move_B2[:, :1], tour_BN == last_move_B2[:, 1:]
    last_BNN = first_BN.unsqueeze(2) & second_BN.unsqueeze(1)
    return open_BNN & ~(last_BNN | last_BNN.transpose(1, 2))


def feasible_moves(tour_BN: Tensor, feasible: Feasible) -> Tensor | None:
    """(B, N, N) bool; None if every move is feasible."""
    mask_BNN = feasible.mask_BNN
    if feasible.load_BN6 is not None and feasible.room_B is not None:
        mask_BNN = within_capacity(feasible.load_BN6, feasible.room_B)
    return mask_BNN if feasible.idle else close_idle(mask_BNN, tour_BN, feasible.depots)


def within_capacity(load_BN6: Tensor, room_B: Tensor) -> Tensor:
    """(B, N, N): 2-opt moves after which no route is overloaded. A span over position 0 stands for its complement,
    as in the operator."""
    load_6BN = load_BN6.movedim(2, 0).contiguous()
    straight_BNN = _reversal(load_6BN[:3], load_6BN[3:], room_B)
    # The complement of first..second runs from second + 1 to first - 1.
    around_BNN = _reversal(load_6BN[:3].roll(-1, dims=2), load_6BN[3:].roll(1, dims=2), room_B).transpose(1, 2)
    place_N = torch.arange(load_BN6.shape[1], device=load_BN6.device)
    first_N1, second_1N = place_N.unsqueeze(1), place_N.unsqueeze(0)
    over_start_NN = (first_N1 > second_1N) | (first_N1 == 0)
    # Nothing is reversed when the complement is empty.
    empty_NN = over_start_NN & ((second_1N + 1) % len(place_N) == first_N1)
    return torch.where(over_start_NN, around_BNN, straight_BNN) | empty_NN


def _reversal(low_3BN: Tensor, high_3BN: Tensor, room_B: Tensor) -> Tensor:
    """(B, N, N): is reversing low..high feasible, by the loads of its two ends?

    Without a depot inside, the span turns within its route. Otherwise its last stretch joins what comes
    before it and its first stretch joins what comes after it.
    """
    route, before, rest = low_3BN.unsqueeze(3)
    end_route, until, after = high_3BN.unsqueeze(2)
    room_B11 = room_B.view(-1, 1, 1)
    feasible_BNN: Tensor = (route == end_route) | ((before + until <= room_B11) & (rest + after <= room_B11))
    return feasible_BNN


def idle_moves(tour_BN: Tensor, depots: int) -> Tensor:
    """(B, N, N): 2-opt moves that leave every route (TSP: the tour) as it is, up to its direction and place.

    Reversing first..second takes away the edges at its two ends and puts back two others, which are the same if both
    ends are depots, if both neighbours of the ends are, or if all nodes but at most one are on one side.
    """
    size = tour_BN.shape[1]
    depot_BN = tour_BN < depots
    ends_BNN = depot_BN.unsqueeze(2) & depot_BN.unsqueeze(1)
    neighbours_BNN = depot_BN.roll(1, dims=1).unsqueeze(2) & depot_BN.roll(-1, dims=1).unsqueeze(1)
    place_N = torch.arange(size, device=tour_BN.device)
    outside_NN = (place_N.unsqueeze(1) - place_N.unsqueeze(0) - 1) % size
    return ends_BNN | neighbours_BNN | (outside_NN <= 1) | (outside_NN == size - 1)


def close_idle(feasible_BNN: Tensor | None, tour_BN: Tensor, depots: int) -> Tensor:
    """The feasible moves (None: all) that are not idle; all of them in rows where only the last pair might remain,
    which a step may not make either."""
    idle_BNN = idle_moves(tour_BN, depots)
    feasible_BNN = torch.ones_like(idle_BNN) if feasible_BNN is None else feasible_BNN
    busy_BNN = feasible_BNN & ~idle_BNN
    enough_B = busy_BNN.flatten(1).sum(1) > 2
    return torch.where(enough_B.view(-1, 1, 1), busy_BNN, feasible_BNN)

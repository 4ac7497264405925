"""The truth: plain PyTorch, by the index formula of each operator.

Shape letters: B rows, N positions, I distance matrices.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from dact.kernels.row_draws import STEP

OPERATORS = ("two_opt", "insert", "swap")
LEAST_GAIN = 1e-6
"""A new incumbent is better by more than this share of the cost: float32 sums of the same legs differ by less."""


class Search(NamedTuple):
    """The state of a search, as in `dact.search.SearchState`; made anew or overwritten."""

    tour_BN: Tensor
    cost_B: Tensor
    incumbent_BN: Tensor
    incumbent_cost_B: Tensor
    stall_B: Tensor
    last_move_B2: Tensor
    stream_B: Tensor


class Costs(NamedTuple):
    """Euclidean lengths times a scale, or by matrices, of which each row names one."""

    coordinates_BN2: Tensor
    scale_B: Tensor
    distance_INN: Tensor | None = None
    matrix_B: Tensor | None = None


def make_move_reference(search: Search, move_B2: Tensor, costs: Costs, operator: str, patience: int) -> Search:
    """The search after the move of each row, a pair of positions."""
    tour_BN = _moved(search.tour_BN, move_B2, operator)
    cost_B = _cost(tour_BN, costs)
    better_B = betters(cost_B, search.incumbent_cost_B)
    incumbent_BN = torch.where(better_B.unsqueeze(1), tour_BN, search.incumbent_BN)
    incumbent_cost_B = torch.where(better_B, cost_B, search.incumbent_cost_B)
    stall_B = torch.where(better_B, 0, search.stall_B + 1)
    tired_B = stall_B >= patience
    return Search(
        torch.where(tired_B.unsqueeze(1), incumbent_BN, tour_BN),
        torch.where(tired_B, incumbent_cost_B, cost_B),
        incumbent_BN,
        incumbent_cost_B,
        torch.where(tired_B, 0, stall_B),
        search.tour_BN.gather(1, move_B2),
        search.stream_B + STEP,
    )


def betters(cost_B: Tensor, incumbent_cost_B: Tensor) -> Tensor:
    """Is it a new incumbent? Exchanging two empty routes is not, whatever rounding makes of the cost."""
    return cost_B < (1 - LEAST_GAIN) * incumbent_cost_B


def _moved(tour_BN: Tensor, move_B2: Tensor, operator: str) -> Tensor:
    """The tours after the move, rotated so that node 0 comes first."""
    size = tour_BN.shape[1]
    place_N = torch.arange(size, device=tour_BN.device)
    moved_BN = tour_BN.gather(1, _source(place_N, move_B2[:, :1], move_B2[:, 1:], size, operator))
    start_B1 = (moved_BN == 0).to(torch.int8).argmax(1, keepdim=True)
    return moved_BN.gather(1, (place_N + start_B1) % size)


def _source(place_N: Tensor, first_B1: Tensor, second_B1: Tensor, size: int, operator: str) -> Tensor:
    """Where the node comes from that stands at each place after the move."""
    if operator == "two_opt":
        # A segment over position 0 is replaced by its complement, whose reversal is the same cyclic tour.
        over_start = (first_B1 > second_B1) | (first_B1 == 0)
        low = torch.where(over_start, second_B1 + 1, first_B1)
        high = torch.where(over_start, torch.where(first_B1 == 0, size, first_B1) - 1, second_B1)
        return torch.where((place_N >= low) & (place_N <= high), low + high - place_N, place_N)
    if operator == "insert":
        forward = first_B1 < second_B1
        landing = torch.where(forward, second_B1, torch.minimum(second_B1 + 1, first_B1))
        left = forward & (place_N >= first_B1) & (place_N < landing)
        right = ~forward & (place_N > landing) & (place_N <= first_B1)
        return torch.where(place_N == landing, first_B1, place_N + left.long() - right.long())
    if operator == "swap":
        return torch.where(place_N == first_B1, second_B1, torch.where(place_N == second_B1, first_B1, place_N))
    raise ValueError(f"operator '{operator}' is not one of {', '.join(OPERATORS)}")


def _cost(tour_BN: Tensor, costs: Costs) -> Tensor:
    next_BN = tour_BN.roll(-1, dims=1)
    if costs.distance_INN is not None and costs.matrix_B is not None:
        return costs.distance_INN[costs.matrix_B.unsqueeze(1), tour_BN, next_BN].sum(1)
    here, there = (costs.coordinates_BN2.gather(1, x.unsqueeze(2).expand(-1, -1, 2)) for x in (tour_BN, next_BN))
    return costs.scale_B * (here - there).square().sum(2).sqrt().sum(1)

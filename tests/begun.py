"""Searches about to begin, their open moves, and a check of their tours."""

import torch
from torch import Tensor

from dact.kernels.pick_move import open_pairs
from dact.kernels.row_draws import streams
from dact.operators import Operator
from dact.problems import PROBLEMS, Batch, Problem
from dact.search import SearchState, look, start_state


def begun(problem_name: str, batch: Batch, start: str = "random", seed: int = 0) -> SearchState:
    """Random or greedy tours, and the streams of a seed."""
    problem, stream_B = PROBLEMS[problem_name], streams(seed, range(batch.rows), batch.device)
    tour_BN = problem.greedy_start(batch) if start == "greedy" else problem.random_start(batch, stream_B)
    return start_state(tour_BN, batch.cost(tour_BN), stream_B)


def open_moves(problem: Problem, batch: Batch, tour_BN: Tensor, last_move_B2: Tensor, operator: Operator) -> Tensor:
    """(B, N, N) bool: feasible pairs, without the diagonal and without the last pair in either order."""
    return open_pairs(tour_BN, last_move_B2, look(problem, batch, tour_BN, operator)[1])


def is_permutation(tour_BN: Tensor) -> Tensor:
    """True for each row that visits every node exactly once."""
    return (tour_BN.sort(1).values == torch.arange(tour_BN.shape[1], device=tour_BN.device)).all(1)

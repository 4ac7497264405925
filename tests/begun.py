"""Searches about to begin."""

from dact.kernels.row_draws import streams
from dact.problems import PROBLEMS, Batch
from dact.search import SearchState, start_state


def begun(problem_name: str, batch: Batch, start: str = "random", seed: int = 0) -> SearchState:
    """Random or greedy tours, and the streams of a seed."""
    problem, stream_B = PROBLEMS[problem_name], streams(seed, range(batch.rows), batch.device)
    tour_BN = problem.greedy_start(batch) if start == "greedy" else problem.random_start(batch, stream_B)
    return start_state(tour_BN, batch.cost(tour_BN), stream_B)

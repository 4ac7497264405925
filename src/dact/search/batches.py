"""Searching batches of instances on one device, and how large batches should be."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch import Tensor

from dact.memory import refuse_beyond_memory
from dact.problems import Batch
from dact.search.loop import Pace, SearchRun, Watcher, run
from dact.search.searcher import Searcher
from dact.search.state import SearchState, start_state
from dact.search.stop import Stop
from dact.threads import one_thread_per_operation

Answer = TypeVar("Answer")
SMALLEST = 4
"""Tours shorter than this have nothing to search."""
CPU_POSITIONS = 1200
"""Positions per batch that keep the working set in a CPU's cache (measured: 64 rows of 20, 8 to 16 of 100)."""
GPU_BYTES = 4 * 2**30
"""Device memory for the rows of a batch: enough for full speed at any length."""
MATRIX_BYTES = 16
"""Bytes per pair of nodes of an instance with a distance matrix on a GPU."""
HOST_BYTES = 9
"""The same on a CPU (measured: 5 at 20,000 nodes, 9 with depots, whose copies are added to the matrix)."""
NO_MEMORY = ("out of memory", "ALLOC_FAILED")
"""Text of out-of-memory errors of Triton and CUDA's libraries, which have no exception type of their own."""
LOOK_EVERY = {"cuda": 0.3, "cpu": 0.05}
"""Seconds between two reads of the costs. On a GPU each waits for the device and copies all costs; on a CPU it takes
about a millisecond, in which most threads have nothing to do."""


def rows_at_once(
    searcher: Searcher, length: int, augment: int, device: torch.device, *, own_distances: bool = False
) -> int:
    """How many instances with tours of this length to search in one batch: the fastest number that fits the memory."""
    if device.type == "cpu":
        _refuse_too_long(searcher, length, augment, HOST_BYTES * length**2 if own_distances else 0)
        return max(1, CPU_POSITIONS // length // augment)
    matrix = MATRIX_BYTES * length**2 if own_distances else 0
    return max(1, GPU_BYTES // (augment * searcher.row_bytes(length) + matrix))


def _refuse_too_long(searcher: Searcher, length: int, rows: int, matrix: int) -> None:
    """On a CPU, where running out of memory kills the process, refuse searches that cannot fit."""
    refuse_beyond_memory(
        rows * searcher.row_bytes(length) + matrix,
        f"a {searcher.name} search over {length} positions" + (f" by {rows} rows" if rows > 1 else ""),
        "solve smaller instances, by fewer rows, or take a larger machine or another search method",
    )


def search_batch(
    searcher: Searcher,
    batch: Batch,
    tour_BN: Tensor,
    stream_R: Tensor,
    *,
    augment: int,
    stop: Stop,
    watch: Watcher | None = None,
) -> SearchRun:
    """Search from the given tours, `augment` rows for each, each with its own stream of random numbers."""
    if batch.length < SMALLEST:
        stop = Stop(steps=0)
    rows = searcher.copies(batch, augment)
    tour_RN = tour_BN.repeat_interleave(augment, dim=0)
    state = start_state(tour_RN, rows.cost(tour_RN), stream_R)
    began = stop.elapsed()
    searcher.limit(stop)
    if stop.steps != 0:
        with one_thread_per_operation():
            searcher.prepare(rows, state)
    # Compilation, half a minute on a GPU, does not count in a time limit.
    stop.leave_out(stop.elapsed() - began)
    # With a target the search ends at one of these reads, so they must not depend on the clock.
    by_clock = stop.target is None and (batch.device.type == "cuda" or searcher.graph_steps > 1)
    pace = Pace(searcher.graph_steps, LOOK_EVERY[batch.device.type] if by_clock else 0.0)
    return run(searcher, rows, state, stop, augment=augment, pace=pace, watch=watch)


def best_tours(state: SearchState, augment: int) -> Tensor:
    """The incumbent of the best augmentation of each instance."""
    best_I1 = state.incumbent_cost_B.view(-1, augment).argmin(1, keepdim=True)
    row_I = best_I1.squeeze(1) + augment * torch.arange(len(best_I1), device=best_I1.device)
    return state.incumbent_BN[row_I]


class Parts:
    """Splits work into parts of at most `most`, and into halves when the device runs out of memory."""

    def __init__(self, most: int) -> None:
        self.most = most

    def each(self, places: range, work: Callable[[range], Answer]) -> Iterator[tuple[range, Answer]]:
        """Yields the places of each part and the result of the work on it."""
        first = places.start
        while first < places.stop:
            part = range(first, min(first + self.most, places.stop))
            answer = _unless_too_large(part, work)
            if answer is None:
                self.most = len(part) // 2
            else:
                yield part, answer[0]
                first = part.stop


def _unless_too_large(part: range, work: Callable[[range], Answer]) -> tuple[Answer] | None:
    """The result, or None if the device runs out of memory. The error holds tensors, so it must not leave this
    function."""
    try:
        return (work(part),)
    except RuntimeError as error:
        # During a graph capture, the error of the capture hides the one that caused it.
        if not (_lacks_memory(error) or _lacks_memory(error.__context__)):
            raise
        if len(part) == 1:
            raise ValueError(
                "the GPU has not enough memory for this instance alone: ask for fewer augmentations, or --device cpu"
            ) from None
        return None


def _lacks_memory(error: BaseException | None) -> bool:
    return isinstance(error, torch.cuda.OutOfMemoryError) or any(words in str(error) for words in NO_MEMORY)

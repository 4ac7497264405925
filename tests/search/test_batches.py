"""How many rows at once, what happens where memory is too small for them, and what counts as time."""

import gc

import pytest
import torch

from dact.kernels.row_draws import new_streams, streams
from dact.policy import Policy, PolicyConfig
from dact.problems import PROBLEMS
from dact.search import (
    FusedEngine,
    GraphedEngine,
    HybridConfig,
    HybridSearcher,
    Parts,
    PlainEngine,
    SearchConfig,
    Stop,
    rows_at_once,
    search_batch,
)
from dact.search.batches import LOOK_EVERY
from dact.search.engines.capture import _side_stream
from dact.search.loop import Pace

GPU, CPU = torch.device("cuda"), torch.device("cpu")


def engines() -> tuple[FusedEngine, GraphedEngine]:
    """Both that a GPU may get."""
    pytest.importorskip("triton")
    problem, policy = PROBLEMS["tsp"], Policy(PolicyConfig(features=2))
    return FusedEngine(problem, policy, SearchConfig()), GraphedEngine(problem, policy, SearchConfig())


def test_rows_on_a_gpu() -> None:
    """Ten thousand TSP100 are one batch for the kernels; what stores N x N takes fewer; augmentations share."""
    fused, graphed = engines()
    assert rows_at_once(fused, 100, 1, GPU) > 10_000
    assert 1_000 < rows_at_once(graphed, 100, 1, GPU) < 10_000
    assert rows_at_once(fused, 100, 8, GPU) == rows_at_once(fused, 100, 1, GPU) // 8
    assert rows_at_once(graphed, 10_000, 8, GPU) == 1


def test_matrices_take_room() -> None:
    """Instances with distances of their own come in smaller batches."""
    fused, _ = engines()
    own = rows_at_once(fused, 1000, 1, GPU, own_distances=True)
    assert 100 < own < rows_at_once(fused, 1000, 1, GPU) / 5


def test_rows_on_a_cpu() -> None:
    """As many as keep its cache."""
    engine = PlainEngine(PROBLEMS["tsp"], lambda x: x, SearchConfig())
    assert [rows_at_once(engine, length, 1, CPU) for length in (20, 100, 5000)] == [60, 12, 1]


def test_preparing_does_not_count(monkeypatch: pytest.MonkeyPatch, clock) -> None:
    """An engine that compiles for long leaves a search its whole time limit."""
    policy = Policy(PolicyConfig(features=2)).eval()
    batch = PROBLEMS["tsp"].sample(6, 1, torch.Generator().manual_seed(0))
    engine = PlainEngine(PROBLEMS["tsp"], policy, SearchConfig())
    monkeypatch.setattr(PlainEngine, "prepare", lambda *_: clock.advance(100))
    monkeypatch.setattr(PlainEngine, "advance", lambda _engine, _batch, state, _steps: clock.advance(0.5) or state)
    stop = Stop(seconds=2)
    done = search_batch(engine, batch, torch.arange(6)[None], streams(0, [0], "cpu"), augment=1, stop=stop)
    assert (done.steps, done.seconds) == (4, 2)


def test_too_little_memory_halves_the_parts() -> None:
    """Parts that do not fit are tried again in halves, nothing is lost or done twice, and the size is remembered."""
    tried: list[int] = []

    def work(part: range) -> list[int]:
        tried.append(len(part))
        if len(part) > 3:
            raise torch.cuda.OutOfMemoryError
        return list(part)

    parts = Parts(10)
    done = list(parts.each(range(5, 17), work))
    assert [place for _, answer in done for place in answer] == list(range(5, 17))
    assert tried == [10, 5, 2, 2, 2, 2, 2, 2]
    assert [list(part) for part, _ in parts.each(range(3), work)] == [[0, 1], [2]]


def test_memory_that_ran_out_in_a_capture() -> None:
    """An error that was raised while a shortage of memory was handled counts as one; others do not."""

    def work(part: range) -> int:
        if len(part) == 1:
            return part.start
        try:
            raise torch.cuda.OutOfMemoryError
        finally:
            raise RuntimeError("operation failed due to a previous error during capture")

    def in_triton(part: range) -> int:
        if len(part) == 1:
            return part.start
        raise RuntimeError("Triton Error [CUDA]: out of memory")

    def broken(part: range) -> None:
        raise RuntimeError("a bug")

    assert [answer for _, answer in Parts(2).each(range(2), work)] == [0, 1]
    assert [answer for _, answer in Parts(2).each(range(2), in_triton)] == [0, 1]
    with pytest.raises(RuntimeError, match="a bug"):
        list(Parts(2).each(range(2), broken))


@pytest.mark.gpu
@pytest.mark.parametrize(("target", "seconds"), [(None, LOOK_EVERY["cpu"]), (1.0, 0.0)])
def test_rounds_on_a_cpu_are_read_by_the_clock(
    monkeypatch: pytest.MonkeyPatch, target: float | None, seconds: float
) -> None:
    """Reading after every few rounds would take as long as they do; with a target the end must not depend on it."""
    paces: list[Pace] = []
    monkeypatch.setattr("dact.search.batches.run", lambda *_, pace, **__: paces.append(pace))
    batch = PROBLEMS["tsp"].sample(8, 1, torch.Generator().manual_seed(0))
    searcher, tour_BN = HybridSearcher(HybridConfig(), 1), PROBLEMS["tsp"].greedy_start(batch)
    search_batch(searcher, batch, tour_BN, streams(0, range(1), CPU), augment=1, stop=Stop(steps=9, target=target))
    assert (paces[0].chunk, paces[0].seconds) == (searcher.graph_steps, seconds)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(("mebibytes", "spare"), [(1200, 0), (700, 0), (300, 0), (700, 600), (300, 600)])
def test_a_gpu_that_is_too_small(mebibytes: int, spare: int) -> None:
    """With room for fewer rows than there are, they are searched in parts, and every one of them.

    Memory to spare is behind a tensor that stays: rehearsals may use it, graphs may not.
    """
    generator = torch.Generator("cuda").manual_seed(0)
    problem, policy = PROBLEMS["tsp"], Policy(PolicyConfig(features=2)).cuda().eval()
    batch, engine = problem.sample(20, 20_000, generator), FusedEngine(problem, policy, SearchConfig())
    stream_B = new_streams(batch.rows, generator)
    start_BN = problem.random_start(batch, stream_B)
    cost_B, parts = batch.cost(start_BN), Parts(batch.rows)

    def work(part: range) -> bool:
        row_R = torch.arange(part.start, part.stop, device="cuda")
        few, tour_RN = batch.take(row_R), start_BN[row_R]
        stop = Stop(steps=engine.graph_steps + 1)
        done = search_batch(engine, few, tour_RN, stream_B[row_R], augment=1, stop=stop)
        return bool((done.state.incumbent_cost_B <= cost_B[row_R] + 1e-5).all())

    with torch.cuda.stream(_side_stream(0)):
        stays = torch.empty(spare * 2**20, dtype=torch.uint8, device="cuda")
        del stays
        stays = torch.empty(2**24 if spare else 0, dtype=torch.uint8, device="cuda")
    # What other tests hold counts as well, whole blocks of it.
    gc.collect()
    torch.cuda.empty_cache()
    room = torch.cuda.memory_reserved() + mebibytes * 2**20
    torch.cuda.set_per_process_memory_fraction(room / torch.cuda.get_device_properties(0).total_memory)
    try:
        done = list(parts.each(range(batch.rows), work))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert [place for part, _ in done for place in part] == list(range(batch.rows))
    assert all(sound for _, sound in done)
    assert parts.most < batch.rows
    del stays


def test_one_that_does_not_fit_is_said() -> None:
    """Where not even one fits, that is one sentence."""

    def work(part: range) -> None:
        raise torch.cuda.OutOfMemoryError

    with pytest.raises(ValueError, match="not enough memory for this instance alone"):
        list(Parts(4).each(range(4), work))


def test_the_trace_begins_at_zero() -> None:
    """Time spent on preparing is left out also where nobody has looked at the clock before."""
    engine = PlainEngine(PROBLEMS["tsp"], Policy(PolicyConfig(features=2)).eval(), SearchConfig())
    batch = PROBLEMS["tsp"].sample(6, 1, torch.Generator().manual_seed(0))
    done = search_batch(engine, batch, torch.arange(6)[None], streams(0, [0], "cpu"), augment=1, stop=Stop(steps=1))
    assert done.traces[0][0].seconds >= 0

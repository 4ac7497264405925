"""What replays hold, and what is kept away from a capture."""

import gc
import os
import weakref
from importlib.util import find_spec

import pytest
import torch

if not torch.cuda.is_available() and find_spec("triton"):
    os.environ["TRITON_INTERPRET"] = "1"

from begun import begun
from dact.policy import Policy, PolicyConfig
from dact.problems import PROBLEMS
from dact.search import FusedEngine, GraphedEngine, SearchConfig
from dact.search.engines.capture import _make_sure_of, no_collection

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def used(kind: type[FusedEngine | GraphedEngine], generator: torch.Generator) -> FusedEngine | GraphedEngine:
    """An engine that has made a step, and holds what it replays."""
    problem, policy = PROBLEMS["tsp"], Policy(PolicyConfig(features=2)).to(DEVICE)
    batch = problem.sample(5, 2, generator).to(DEVICE)
    engine = kind(problem, policy, SearchConfig(), precision="float32")
    engine.advance(batch, begun("tsp", batch), 1)
    return engine


class Cycle:
    """Only a collection frees it, and what it holds."""

    def __init__(self, holds: object = None) -> None:
        self.me, self.holds = self, holds


@pytest.mark.parametrize("kind", [FusedEngine, GraphedEngine])
def test_graphs_go_with_their_engine(kind: type[FusedEngine | GraphedEngine], generator: torch.Generator) -> None:
    """An engine that nobody holds is freed at once, replay and all, without Python looking for cycles."""
    pytest.importorskip("triton")
    engine = used(kind, generator)
    held = [weakref.ref(engine), weakref.ref(engine._replays.last)]
    gc.disable()
    try:
        del engine
        assert [each() for each in held] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_no_collection_inside(enabled: bool) -> None:
    """Garbage is collected before, then not, and afterwards as it was."""
    garbage = weakref.ref(Cycle())
    try:
        gc.enable() if enabled else gc.disable()
        with no_collection():
            assert garbage() is None
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


@pytest.mark.parametrize(("free", "fraction", "most"), [(700, 1.0, 550), (300, 1.0, 300), (700, 0.6, 150)])
def test_memory_runs_out_before_a_capture(
    monkeypatch: pytest.MonkeyPatch, free: int, fraction: float, most: int
) -> None:
    """A graph needs memory that is free on the device, and that the process may still take: it has 450 of 1,000."""
    for name, value in (
        ("synchronize", None),
        ("empty_cache", None),
        ("mem_get_info", (free, 1000)),
        ("memory_reserved", 450),
        ("get_per_process_memory_fraction", fraction),
    ):
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    _make_sure_of(most)
    with pytest.raises(torch.cuda.OutOfMemoryError, match=f"needs {most + 1} bytes of GPU memory; {most} are free"):
        _make_sure_of(most + 1)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", [FusedEngine, GraphedEngine])
def test_captures_survive_the_collector(kind: type[FusedEngine | GraphedEngine], generator: torch.Generator) -> None:
    """Graphs that wait to be collected do not end the capture of others, however eager the collector."""
    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for _ in range(4):
            Cycle(holds=used(kind, generator))
    finally:
        gc.set_threshold(*before)

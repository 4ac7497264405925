"""Which engine is chosen."""

import pytest
import torch

from dact.policy import DecoderConfig, Policy, PolicyConfig
from dact.problems import PROBLEMS
from dact.search import FusedEngine, GraphedEngine, PlainEngine, SearchConfig, engine_for, settled_precision


@pytest.mark.parametrize(
    ("device", "hidden", "engine"), [("cpu", 32, PlainEngine), ("cuda", 32, FusedEngine), ("cuda", 24, GraphedEngine)]
)
def test_engine_for(device: str, hidden: int, engine: type) -> None:
    """Kernels on a GPU that has them for the policy, PyTorch in a graph if not, plain steps on a CPU."""
    pytest.importorskip("triton")
    policy = Policy(PolicyConfig(features=2, decoder_config=DecoderConfig(hidden=hidden)))
    chosen = engine_for(PROBLEMS["tsp"], policy, SearchConfig(), torch.device(device))
    assert isinstance(chosen, engine)


@pytest.mark.parametrize(
    ("asked", "device", "meant"),
    [("auto", "cpu", "float32"), ("auto", "cuda", "float16"), ("float32", "cpu", "float32"), ("tf32", "cuda", "tf32")],
)
def test_precision(asked: str, device: str, meant: str) -> None:
    """The fastest unless another is asked for."""
    assert settled_precision(asked, torch.device(device)) == meant


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("float16", "precision 'float16' needs a GPU"),
        ("tf32", "needs a GPU"),
        ("int4", "precision 'int4' is not one of"),
    ],
)
def test_precision_that_a_cpu_lacks(asked: str, message: str) -> None:
    """A CPU searches in float32, and says so."""
    with pytest.raises(ValueError, match=message):
        settled_precision(asked, torch.device("cpu"))

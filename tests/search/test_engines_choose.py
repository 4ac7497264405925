"""Which engine is chosen."""

import pytest
import torch

from dact.policy import DecoderConfig, Policy, PolicyConfig
from dact.problems import PROBLEMS
from dact.search.engines import FusedEngine, GraphedEngine, PlainEngine, SearchConfig, engine_for


@pytest.mark.parametrize(
    ("device", "hidden", "engine"), [("cpu", 32, PlainEngine), ("cuda", 32, FusedEngine), ("cuda", 24, GraphedEngine)]
)
def test_engine_for(device: str, hidden: int, engine: type) -> None:
    """Kernels on a GPU that has them for the policy, PyTorch in a graph if not, plain steps on a CPU."""
    pytest.importorskip("triton")
    policy = Policy(PolicyConfig(features=2, decoder_config=DecoderConfig(hidden=hidden)))
    chosen = engine_for(PROBLEMS["tsp"], policy, SearchConfig(), torch.device(device))
    assert isinstance(chosen, engine)

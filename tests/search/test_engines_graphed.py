"""The graphed engine against the plain one. Here its steps run one by one; on a GPU they are replayed."""

import pytest
import torch

from begun import begun
from dact.policy import Policy, PolicyConfig
from dact.problems import PROBLEMS, Batch
from dact.search import PlainEngine, SearchConfig, SearchState
from dact.search.engines.graphed import GraphedEngine
from dact.training.buffers import fields


def policy_for(problem_name: str) -> Policy:
    """A random policy."""
    torch.manual_seed(0)
    return Policy(PolicyConfig(features=PROBLEMS[problem_name].features))


def same(left: SearchState, right: SearchState) -> bool:
    """Equal in every field."""
    return all(torch.equal(x, getattr(right, name)) for name, x in fields(left).items())


@pytest.mark.parametrize("greedy", [False, True])
def test_answers_are_those_of_the_plain_engine(problem_name: str, batch: Batch, greedy: bool) -> None:
    """The same seed gives the same states, streams of random numbers among them."""
    problem, policy = PROBLEMS[problem_name], policy_for(problem_name)
    config = SearchConfig(patience=3, greedy=greedy)
    plain, graphed = PlainEngine(problem, policy, config), GraphedEngine(problem, policy, config, graph_steps=4)
    left = right = begun(problem_name, batch)
    for steps in (5, 1, 8):
        left, right = graphed.advance(batch, left, steps), plain.advance(batch, right, steps)
        assert same(left, right)


def test_states_are_not_overwritten(problem_name: str, batch: Batch) -> None:
    """A state handed out stays as it was when the engine goes on."""
    engine = GraphedEngine(PROBLEMS[problem_name], policy_for(problem_name), SearchConfig())
    first = engine.advance(batch, begun(problem_name, batch), 3)
    tour_BN = first.tour_BN.clone()
    engine.advance(batch, first, 3)
    assert torch.equal(first.tour_BN, tour_BN)


def test_other_batches_reuse_the_buffers_or_replace_them(problem_name: str, generator: torch.Generator) -> None:
    """A second batch of the same shape, and one of another, are searched as by the plain engine."""
    problem, policy, config = PROBLEMS[problem_name], policy_for(problem_name), SearchConfig()
    engine, plain = GraphedEngine(problem, policy, config), PlainEngine(problem, policy, config)
    for size, rows in ((9, 3), (9, 3), (9, 2), (7, 2)):
        batch = problem.sample(size, rows, generator)
        begin = begun(problem_name, batch)
        left = engine.advance(batch, begin, 3)
        assert same(left, plain.advance(batch, begin, 3))


def test_half_precision(problem_name: str, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under autocast the search still makes feasible tours and keeps costs in float32."""
    # Some virtual CPUs promise half-precision units they lack; PyTorch's own loops do not need them.
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    problem = PROBLEMS[problem_name]
    engine = GraphedEngine(problem, policy_for(problem_name), SearchConfig(), precision="bfloat16")
    state = engine.advance(batch, begun(problem_name, batch), 5)
    assert state.cost_B.dtype == torch.float32
    assert torch.equal(state.cost_B, batch.cost(state.tour_BN))
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize(("setting", "value"), [("precision", "int4"), ("graph_steps", 0)])
def test_wrong_settings_are_named(setting: str, value: object) -> None:
    """A wrong setting is refused with its name."""
    with pytest.raises(ValueError, match=setting):
        GraphedEngine(PROBLEMS["tsp"], policy_for("tsp"), SearchConfig(), **{setting: value})


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_replays_on_the_gpu(problem_name: str, batch: Batch) -> None:
    """Replayed steps are the plain engine's steps, and none of them waits for the host."""
    problem, policy = PROBLEMS[problem_name], policy_for(problem_name).cuda()
    rows = batch.to("cuda")
    begin = begun(problem_name, rows)
    config = SearchConfig(patience=3)
    plain, graphed = PlainEngine(problem, policy, config), GraphedEngine(problem, policy, config, graph_steps=4)
    graphed.advance(rows, begin, 5)
    torch.cuda.set_sync_debug_mode("error")
    try:
        left = graphed.advance(rows, begin, 101)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    right = plain.advance(rows, begin, 101)
    assert same(left, right)

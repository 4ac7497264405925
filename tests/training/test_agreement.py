"""Search and update find the same moves equally probable in half precision: both round at the same places."""

from copy import deepcopy

import pytest
import torch
from torch import Tensor

from begun import begun, open_moves
from dact.cards import SHIPPED
from dact.operators import OPERATORS
from dact.policy import Policy, PolicyConfig
from dact.policy.weights import Weights, load_weights
from dact.problems import PROBLEMS, Batch
from dact.search import PlainEngine, SearchConfig, SearchState
from dact.search.engines.fused import FusedEngine
from dact.training.networks import Networks
from dact.training.rollout import Task, seen

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
CONFIG = SearchConfig(operator="two_opt", patience=250)
DISPATCHERS = ("kernels.dual_layer", "kernels.move_log_prob", "kernels.context.training", "policy.decoder")
ROWS, STEPS = (8 if DEVICE == "cuda" else 4), 40
NO_INTERPRETER = pytest.mark.skipif(DEVICE == "cpu", reason="the interpreter multiplies bfloat16 wrongly")


@pytest.fixture(autouse=True)
def _kernels_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The update takes its kernels where there is no GPU too."""
    for name in DISPATCHERS:
        monkeypatch.setattr(f"dact.{name}.runs_triton", lambda _tensor: True)


def typical(weights: Weights) -> tuple[Batch, SearchState]:
    """Instances of the size that the weights were trained on, some steps from a greedy start."""
    problem = PROBLEMS[weights.card.problem]
    batch = problem.sample(weights.card.size, ROWS, torch.Generator().manual_seed(11)).to(DEVICE)
    plain = PlainEngine(problem, weights.policy, CONFIG)
    return batch, plain.advance(batch, begun(problem.name, batch, "greedy"), STEPS)


@torch.no_grad()
def log_ratio(name: str) -> Tensor:
    """(B,): what the update's first pass says of the moves that the search draws, less what the search said."""
    weights = load_weights(SHIPPED / f"{name}.safetensors")
    problem, policy = PROBLEMS[weights.card.problem], weights.policy.to(DEVICE)
    batch, state = typical(weights)
    step = FusedEngine(problem, policy, CONFIG, "float16").step(batch, state)
    networks = Networks(policy=policy, critic=weights.critic.to(DEVICE), precision="float16")
    open_BNN = open_moves(problem, batch, state.tour_BN, state.last_move_B2, OPERATORS[CONFIG.operator])
    with torch.enable_grad():
        aspects_SBND = networks.encode(problem.node_features(batch, state.tour_BN))
    log_prob_B, _ = networks.log_prob(aspects_SBND, open_BNN, step.move_B2)
    return log_prob_B - step.log_prob_B


@pytest.mark.parametrize("name", ["tsp20", "cvrp20"])
def test_trained_policies(name: str) -> None:
    """The log ratio is that of sums in float32. A GPU may multiply in another order in different kernels: there the
    bound is what training asks for."""
    assert log_ratio(name).abs().mean() < (1e-5 if DEVICE == "cpu" else 5e-3)


@pytest.mark.parametrize(
    ("logits", "most"),
    [
        ("float32", 1e-5),
        ("float16", 5e-3),
        pytest.param("bfloat16", 5e-2, marks=NO_INTERPRETER),
    ],
)
def test_the_decoder_may_have_a_precision_of_its_own(logits: str, most: float) -> None:
    """Behind an encoder in half precision, its kernels give what plain PyTorch gives of the same aspects in float64."""
    weights = load_weights(SHIPPED / "tsp20.safetensors")
    problem, policy = PROBLEMS["tsp"], weights.policy.to(DEVICE)
    batch, state = typical(weights)
    networks = Networks(policy=policy, critic=weights.critic.to(DEVICE), precision="float16", logits=logits)
    open_BNN = open_moves(problem, batch, state.tour_BN, state.last_move_B2, OPERATORS["two_opt"])
    move_B2 = torch.stack([opened.nonzero()[3] for opened in open_BNN])
    with torch.enable_grad():
        aspects_SBND = networks.encode(problem.node_features(batch, state.tour_BN)).detach().requires_grad_()
    log_prob_B, _ = networks.log_prob(aspects_SBND, open_BNN, move_B2)
    exact_SBND = aspects_SBND.detach().double().requires_grad_()
    exact_B, _ = deepcopy(policy.decoder).double().log_prob(exact_SBND, open_BNN, move_B2)
    assert (log_prob_B - exact_B).abs().mean() < most
    log_prob_B.sum().backward()
    exact_B.sum().backward()
    assert (aspects_SBND.grad - exact_SBND.grad).norm() < 10 * most * exact_SBND.grad.norm()


@pytest.mark.parametrize("idle", [True, False])
def test_a_segment_is_seen_as_its_steps_were(problem_name: str, idle: bool) -> None:
    """Features and open moves of all states at once, by kernels where they run, are those of the steps one by one."""
    problem = PROBLEMS[problem_name].with_idle_moves(idle)
    task = Task(problem=problem, operator="two_opt")
    batch = problem.sample(9, 6, torch.Generator().manual_seed(11))
    torch.manual_seed(0)
    engine = PlainEngine(problem, Policy(PolicyConfig(features=problem.features)), CONFIG)
    states = [begun(problem_name, batch)]
    for _ in range(3):
        states.append(engine.advance(batch, states[-1], 1))
    tour_ZBN = torch.stack([state.tour_BN for state in states]).to(DEVICE)
    last_TB2 = torch.stack([state.last_move_B2 for state in states[:-1]]).to(DEVICE)
    each = batch.to(DEVICE).take(torch.arange(6, device=DEVICE).repeat(4))
    features, opened = seen(task, each, tour_ZBN.flatten(0, 1), last_TB2.flatten(0, 1))
    expected = [problem.node_features(batch, state.tour_BN) for state in states]
    torch.testing.assert_close(features.cpu(), torch.cat(expected))
    expected = [open_moves(problem, batch, s.tour_BN, s.last_move_B2, OPERATORS["two_opt"]) for s in states[:-1]]
    assert torch.equal(opened.cpu(), torch.cat(expected))
    assert opened.any()
    assert not opened.all()

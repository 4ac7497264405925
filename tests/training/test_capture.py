"""What a CUDA graph needs of a segment, as far as it can be seen without a GPU; and with one."""

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dact.training.buffers import snapshot
from dact.training.config import NetworkConfig
from dact.training.curriculum import CurriculumConfig
from dact.training.networks import RuntimeConfig, make_networks
from dact.training.ppo import evaluate_segment
from dact.training.rollout import rollout

TALK = (
    "_local_scalar_dense",
    "is_nonzero",
    "nonzero",
    "masked_select",
    "multinomial",
    "equal",
    "lift_fresh",
    "unique",
    "repeat_interleave.Tensor",
)
"""Operations that wait for the device, or bring numbers from the host."""
OUR_RECIPE = {"update_epochs": 1, "share": 0.5, "entropy_bonus": 1e-3, "smoothing": 0.9}
ENTROPY_SHARE = {"update_epochs": 2, "share": 0.5, "entropy_share": 0.02}
AGES = {"curriculum": CurriculumConfig(ages=8, restart=3)}
SINGLE_ASPECT = {"network": NetworkConfig(encoder="single", dim=128, head_dim=32)}
TABU = {"tabu": 8, "group": 4, "share": 0.5}
GROUPS = AGES | {"group": 4, "share": 0.5, "scale": "group"}


class Listener(TorchDispatchMode):
    """Counts operations that talk to the host."""

    def __init__(self):
        super().__init__()
        self.heard: Counter[str] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.__name__
        by_mask = name.startswith(("index.", "index_put")) and any(
            x is not None and x.dtype == torch.bool for x in args[1]
        )
        if by_mask or name.split(".")[0] in TALK or name in TALK:
            self.heard[name] += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("operator", ["two_opt", "insert", "swap"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kl_limit": 0.01, "entropy_bonus": 0.01, "normalise_advantage": True},
        OUR_RECIPE,
        ENTROPY_SHARE,
        {"idle": False},
        AGES,
        GROUPS,
        SINGLE_ASPECT,
    ],
)
def test_a_segment_never_talks_to_the_host(make_learner, problem_name, operator, options):
    """Rollout, update and warm-up steps read no number back, draw no multinomial and write by no mask."""
    learner = make_learner(problem_name, operator=operator, **options)
    with Listener() as listener:
        learner.warm_up(2)
        learner.segment()
    assert not listener.heard


def test_the_listener_hears():
    """The check above can fail."""
    with Listener() as listener:
        x = torch.arange(3)
        x[x > 1] = 5
        x.sum().item()
    assert set(listener.heard) >= {"_local_scalar_dense.default"}
    assert any(name.startswith("index_put") for name in listener.heard)


def gpu_learner(make_learner, graph: bool, problem: str = "tsp", precision: str = "float32", **ppo):
    """The same small learner on the GPU."""
    from dact.training.learner import Learner

    model = make_learner(problem, rows=64, size=12, **ppo)
    runtime = RuntimeConfig(device="cuda", precision=precision).resolved()
    networks = make_networks(model.networks.policy, model.networks.critic, runtime, model.buffers.batch.length)
    source = replace(model.lane.source, sizes=(12, 9))
    return Learner(networks, model.task, source, model.config, seed=3, graph=graph, curriculum=model.curriculum)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize(
    "options",
    [
        {},
        OUR_RECIPE,
        ENTROPY_SHARE,
        {"idle": False, **OUR_RECIPE},
        {**AGES, **OUR_RECIPE},
        {**OUR_RECIPE, **GROUPS},
        {**OUR_RECIPE, **TABU},
        SINGLE_ASPECT,
    ],
    ids=[
        *("the paper's", "ours", "a share", "without idle moves", "rows of all ages", "groups", "recent tours"),
        "a single aspect",
    ],
)
def test_captured_equals_called(make_learner, problem_name, options):
    """Segments and warm-up steps as CUDA graphs end where plain calls end, with two sizes in turn."""
    shots: list[dict[str, dict[str, torch.Tensor]]] = []
    for graph in (False, True):
        learner, seen = gpu_learner(make_learner, graph, problem_name, **options), {}
        learner.optimiser.set_rates(1e-3, 1e-3)
        for batch in range(3):
            learner.choose(batch)
            for name, work in (
                ("new", learner.new_batch),
                ("warm", partial(learner.warm_up, 9)),
                ("segment", learner.segment),
            ):
                work()
                seen[f"{name} {batch}"] = snapshot(learner.tensors())
        shots.append(seen)
    for stage, called in shots[0].items():
        for name, x in called.items():
            torch.testing.assert_close(
                shots[1][stage][name], x, rtol=1e-4, atol=1e-5, msg=lambda text, at=f"{stage}, {name}": f"{at}: {text}"
            )


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_capturing_trains_nothing(make_learner):
    """Weights, optimiser, tours, streams and the generator are after the capture what they were before."""
    plain, captured = (gpu_learner(make_learner, graph) for graph in (False, True))
    for name, x in plain.tensors().items():
        assert torch.equal(x, captured.tensors()[name]), name
    assert torch.equal(plain.generator.get_state(), captured.generator.get_state())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_no_synchronisation(make_learner, problem_name):
    """PyTorch's own debug mode finds no wait in a hundred warm-up steps and a few segments."""
    learner = gpu_learner(make_learner, False, problem_name)
    learner.new_batch()
    learner.warm_up(9)
    learner.segment()
    torch.cuda.set_sync_debug_mode("error")
    try:
        learner.warm_up(100)
        for _ in range(3):
            learner.segment()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("tabu", [0, 8])
@pytest.mark.parametrize(("precision", "most"), [("float32", 1e-4), ("float16", 5e-3)])
def test_engine_and_update_agree(make_learner, problem_name, precision, most, tabu):
    """The mean |log ratio| of the moves an engine draws, by its own account and by the update's first pass."""
    learner = gpu_learner(make_learner, False, problem_name, precision, tabu=tabu)
    batch, state = learner.buffers.batch, learner.buffers.state
    _, segment = rollout(learner.engine, learner.task, batch, state, 4)
    now = evaluate_segment(learner.networks, segment)
    assert (now.log_prob_TB - segment.log_prob_TB).abs().mean() <= most


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_half_precision_has_the_gradients_of_float32(make_learner, problem_name):
    """Of log-probabilities and values of one segment, by their angle and length over all weights."""
    gradients = []
    exact = gpu_learner(make_learner, False, problem_name)
    batch, state = exact.buffers.batch, exact.buffers.state
    _, segment = rollout(exact.engine, exact.task, batch, state, 4)
    for precision in ("float32", "float16"):
        learner = gpu_learner(make_learner, False, problem_name, precision)
        now = evaluate_segment(learner.networks, segment)
        total = 1e4 * (now.log_prob_TB * segment.reward_TB).mean() + now.value_TB.mean()
        networks = learner.networks
        weights = [*networks.policy.parameters(), *networks.critic.parameters()]
        gradients.append(torch.cat([x.flatten() for x in torch.autograd.grad(total, weights)]))
    assert torch.cosine_similarity(*gradients, dim=0) > 0.999
    assert float(gradients[1].norm() / gradients[0].norm()) == pytest.approx(1, abs=0.02)

"""What a CUDA graph needs of a segment, as far as it can be seen without a GPU; and with one."""

from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dact.training.buffers import snapshot
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
@pytest.mark.parametrize("options", [{}, {"kl_limit": 0.01, "entropy_bonus": 0.01, "normalise_advantage": True}])
def test_a_segment_never_talks_to_the_host(make_learner, problem_name, operator, options):
    """Rollout, update and warm-up steps read no number back, draw no multinomial and write by no mask."""
    learner = make_learner(problem_name, operator=operator, **options)
    with Listener() as listener:
        learner.warm_up()
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


def test_networks_trace_whole(make_learner, problem_name):
    """Encoder, decoder and critic are traced without a break, with gradients that agree with plain autograd."""
    learner = make_learner(problem_name)
    policy, critic = learner.networks.policy, learner.networks.critic
    features = torch.rand(5, learner.buffers.batch.length, learner.task.problem.features)
    place_ND = policy.places(features.shape[1], features.device)

    def outcome(encoder, decoder, valuer):
        aspects = encoder(features, place_ND)
        total = decoder(aspects).square().mean() + valuer(aspects.detach()).mean()
        return torch.autograd.grad(total, [*policy.parameters(), *critic.parameters()])

    modules = (policy.encoder, policy.decoder, critic)
    torch._dynamo.reset()
    traced = outcome(*(torch.compile(each, backend="aot_eager", fullgraph=True, dynamic=False) for each in modules))
    torch.testing.assert_close(traced, outcome(*modules), rtol=1e-4, atol=1e-6)


def gpu_learner(make_learner, graph: bool, compiled: str, problem: str = "tsp"):
    """The same small learner on the GPU."""
    from dact.training.learner import Learner

    model = make_learner(problem, rows=64, size=12)
    runtime = RuntimeConfig(device="cuda", precision="float32", compile=compiled).resolved()
    networks = make_networks(model.networks.policy, model.networks.critic, runtime, model.buffers.batch.length)
    return Learner(networks, model.task, model.source, model.config, seed=3, graph=graph)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_captured_equals_called(make_learner, problem_name):
    """Three segments and warm-up steps as CUDA graphs end where plain calls end."""
    ends = []
    for graph in (False, True):
        learner = gpu_learner(make_learner, graph, "none", problem_name)
        learner.optimiser.set_rates(1e-3, 1e-3)
        learner.new_batch()
        for _ in range(3):
            learner.warm_up()
            learner.segment()
        ends.append(snapshot(learner.tensors()))
    for name, x in ends[0].items():
        torch.testing.assert_close(
            ends[1][name], x, rtol=1e-4, atol=1e-5, msg=lambda text, name=name: f"{name}: {text}"
        )


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_capturing_trains_nothing(make_learner):
    """Weights, optimiser, tours and generators are after the capture what they were before."""
    plain, captured = (gpu_learner(make_learner, graph, "none") for graph in (False, True))
    for name, x in plain.tensors().items():
        assert torch.equal(x, captured.tensors()[name]), name
    for name, generator in plain.generators.items():
        assert torch.equal(generator.get_state(), captured.generators[name].get_state()), name


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_no_synchronisation(make_learner, problem_name):
    """PyTorch's own debug mode finds no wait in a hundred warm-up steps and a few segments."""
    learner = gpu_learner(make_learner, False, "none", problem_name)
    learner.new_batch()
    learner.warm_up()
    learner.segment()
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(100):
            learner.warm_up()
        for _ in range(3):
            learner.segment()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_compiled_networks_agree(make_learner, problem_name):
    """Compiled and plain networks give the same log-probabilities and values on a segment."""
    answers = []
    for compiled in ("none", "all"):
        learner = gpu_learner(make_learner, False, compiled, problem_name)
        batch, state = learner.buffers.batch, learner.buffers.state
        _, segment = rollout(learner.networks, learner.task, batch, state, 4, learner.generators["rollout"])
        answers.append(evaluate_segment(learner.networks, segment, entropy=True))
    assert (answers[0].log_prob_TB - answers[1].log_prob_TB).abs().mean() <= 1e-4
    torch.testing.assert_close(answers[0].value_TB, answers[1].value_TB, rtol=1e-3, atol=1e-3)

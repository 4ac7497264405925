"""The update."""

import pytest
import torch

from dact.policy import PairDistribution
from dact.training.buffers import snapshot
from dact.training.networks import RuntimeConfig, make_networks
from dact.training.ppo import METRICS, Evaluation, PpoConfig, evaluate_segment, losses, pair_entropy, update
from dact.training.rollout import rollout


def record(learner, steps=4):
    """A segment from where the learner stands."""
    buffers = learner.buffers
    return rollout(learner.networks, learner.task, buffers.batch, buffers.state, steps, learner.generators["rollout"])[
        1
    ]


def measured(metrics_M) -> dict[str, float]:
    """Metrics by name."""
    return dict(zip(METRICS, metrics_M.tolist(), strict=True))


def test_rollout_and_update_agree(make_learner, problem_name):
    """In float32, log-probabilities of rollout and re-evaluation differ by at most 1e-4."""
    learner = make_learner(problem_name)
    segment = record(learner)
    now = evaluate_segment(learner.networks, segment, entropy=False)
    assert (now.log_prob_TB - segment.log_prob_TB).abs().max() <= 1e-4


def test_first_pass_has_ratio_one(make_learner, problem_name):
    """One update epoch measures no KL, clips nothing, and its actor loss is minus the mean advantage."""
    learner = make_learner(problem_name, update_epochs=1)
    segment = record(learner)
    before = evaluate_segment(learner.networks, segment, entropy=False)
    metrics = measured(update(learner.networks, segment, learner.optimiser, learner.config))
    assert metrics["approx_kl"] == 0
    assert metrics["clip_fraction"] == 0
    assert metrics["rollout_log_ratio"] < 1e-4
    assert metrics["value"] == pytest.approx(before.value_TB.mean().item())


def test_losses_by_hand():
    """Both losses against the formulas, element by element, with ratios and values beyond the clip."""
    config = PpoConfig(clip=0.1)
    old = Evaluation(torch.zeros(1, 4), torch.zeros(1, 4), torch.tensor([[0.0, 0.0, 0.0, 1.0]]))
    ratio = torch.tensor([[1.5, 0.5, 1.5, 1.05]])
    value = torch.tensor([[0.5, -0.5, 0.05, 1.0]])
    returns = torch.tensor([[1.5, -1.5, -0.95, 3.0]])
    epoch = losses(Evaluation(ratio.log(), torch.zeros(1, 4), value), old, returns, config)
    # Advantages 1, -1, -1, 2: min(1.5, 1.1), min(-0.5, -0.9), min(-1.5, -1.1), min(2.1, 2.1).
    assert epoch.metrics["actor_loss"].item() == pytest.approx(-(1.1 - 0.9 - 1.5 + 2.1) / 4)
    # Errors: max(1, 1.4), max(1, 1.4), 1, 2; squared.
    assert epoch.metrics["value_loss"].item() == pytest.approx((1.96 + 1.96 + 1 + 4) / 4)
    assert epoch.metrics["clip_fraction"].item() == pytest.approx(0.75)


def test_entropy(make_learner):
    """The entropy is the distribution's, and its gradient is finite where pairs are forbidden."""
    logits = torch.randn(3, 5, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()
    allowed = ~torch.eye(5, dtype=torch.bool).expand(3, 5, 5)
    moves = PairDistribution(logits, allowed)
    entropy = pair_entropy(moves.logits_BNN)
    torch.testing.assert_close(entropy, moves.entropy())
    entropy.sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_gradients_of_the_segment_are_those_of_its_steps(make_learner, problem_name):
    """One batch of n * B rows gives the gradient that n batches of B rows give."""
    learner = make_learner(problem_name)
    segment = record(learner)
    parameters = list(learner.networks.policy.parameters())
    whole = evaluate_segment(learner.networks, segment, entropy=False).log_prob_TB.mean()
    at_once = torch.autograd.grad(whole, parameters)
    encode, decode = learner.networks.encode, learner.networks.decode
    steps = [
        PairDistribution(decode(encode(features)), allowed).log_prob(move)
        for features, allowed, move in zip(segment.features_TBNF, segment.open_TBNN, segment.move_TB2, strict=True)
    ]
    one_by_one = torch.autograd.grad(torch.stack(steps).mean(), parameters)
    torch.testing.assert_close(at_once, one_by_one, atol=1e-6, rtol=1e-4)


def test_critic_does_not_train_the_encoder(make_learner):
    """The value of a segment depends on no parameter of the actor."""
    learner = make_learner()
    value_TB = evaluate_segment(learner.networks, record(learner), entropy=False).value_TB
    gradients = torch.autograd.grad(value_TB.sum(), list(learner.networks.policy.parameters()), allow_unused=True)
    assert all(gradient is None for gradient in gradients)


def test_gradient_norm_is_clipped_per_group(make_learner):
    """Norms above the limit are scaled to it, each group on its own."""
    learner = make_learner(gradient_norm=1e-3, update_epochs=1)
    learner.optimiser.set_rates(0.0, 0.0)
    segment = record(learner)
    kept = []
    learner.optimiser._apply = lambda parameters, gradients, skipped: kept.append(gradients)
    metrics = measured(update(learner.networks, segment, learner.optimiser, learner.config))
    border = len(learner.optimiser.groups[0])
    for part, name in ((kept[0][:border], "actor_norm"), (kept[0][border:], "critic_norm")):
        assert metrics[name] > 1e-3
        assert torch.nn.utils.get_total_norm(part).item() == pytest.approx(1e-3, rel=1e-2)


def test_kl_limit_skips_the_remaining_epochs(make_learner):
    """With a tiny limit only the first epoch counts: the same weights as after one epoch."""
    limited = make_learner(kl_limit=1e-12, update_epochs=3)
    single = make_learner(update_epochs=1)
    skipped = []
    for learner in (limited, single):
        learner.optimiser.set_rates(1e-3, 1e-3)
        skipped.append(
            measured(update(learner.networks, record(learner), learner.optimiser, learner.config))["skipped"]
        )
    assert skipped == [pytest.approx(2 / 3), 0]
    for name, x in single.learnt().items():
        assert torch.equal(limited.learnt()[name], x), name


def test_a_gradient_that_is_not_finite_changes_nothing(make_learner):
    """Weights and optimiser stay as they are, and the metrics say that it was skipped."""
    learner = make_learner()
    learner.optimiser.set_rates(1e-3, 1e-3)
    learner.segment()
    before = snapshot(learner.learnt())
    segment = record(learner)
    segment.reward_TB[0, 0] = torch.nan
    metrics = measured(update(learner.networks, segment, learner.optimiser, learner.config))
    assert metrics["skipped"] == 1
    for name, x in learner.learnt().items():
        assert torch.equal(before[name], x), name


def test_options_change_the_update(make_learner):
    """Advantage normalisation and entropy bonus do something, and keep everything finite."""
    after = []
    for options in ({}, {"normalise_advantage": True}, {"entropy_bonus": 0.1}):
        learner = make_learner(problem="cvrp", **options)
        learner.optimiser.set_rates(1e-3, 1e-3)
        learner.segment()
        after.append(torch.cat([x.flatten() for x in learner.networks.policy.parameters()]))
        assert after[-1].isfinite().all()
    assert not torch.equal(after[0], after[1])
    assert not torch.equal(after[0], after[2])


def test_half_precision_encoder_stays_close(make_learner, problem_name):
    """With the encoder in bfloat16 the value is finite and log-probabilities stay within a tenth."""
    learner = make_learner(problem_name)
    segment = record(learner)
    exact = evaluate_segment(learner.networks, segment, entropy=False)
    runtime = RuntimeConfig(device="cpu", precision="bf16").resolved()
    half = make_networks(learner.networks.policy, learner.networks.critic, runtime, segment.end_BNF.shape[1])
    # oneDNN dies of an illegal instruction on virtual machines that promise AMX and have none.
    with torch.backends.mkldnn.flags(enabled=False):
        rough = evaluate_segment(half, segment, entropy=False)
    assert rough.log_prob_TB.dtype == torch.float32
    assert (rough.log_prob_TB - exact.log_prob_TB).abs().max() < 0.1
    assert rough.value_TB.isfinite().all()


@pytest.mark.parametrize(("name", "value"), [("clip", 0.0), ("discount", 1.5), ("kl_limit", -1.0), ("segment", 0)])
def test_wrong_settings_are_named(name, value):
    """The error names the setting and its value."""
    with pytest.raises(ValueError, match=rf"ppo\.{name} .*{value}"):
        PpoConfig(**{name: value})

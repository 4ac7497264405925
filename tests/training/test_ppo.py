"""The update."""

from dataclasses import replace

import pytest
import torch

from dact.kernels.ppo_loss import MEASURED, NetworkOutputs, Rewards, ppo_loss
from dact.policy import PairDistribution
from dact.training.buffers import snapshot
from dact.training.ppo import METRICS, PpoConfig, _moved, evaluate_segment, update
from dact.training.rollout import rollout


def record(learner, steps=4):
    """A segment from where the learner stands."""
    buffers = learner.buffers
    return rollout(learner.engine, learner.task, buffers.batch, buffers.state, steps)[1]


def measured(metrics_M) -> dict[str, float]:
    """Metrics by name."""
    return dict(zip(METRICS, metrics_M.tolist(), strict=True))


def test_rollout_and_update_agree(make_learner, problem_name):
    """In float32, log-probabilities of rollout and re-evaluation differ by at most 1e-4."""
    learner = make_learner(problem_name)
    segment = record(learner)
    now = evaluate_segment(learner.networks, segment)
    assert (now.log_prob_TB - segment.log_prob_TB).abs().max() <= 1e-4


def test_first_pass_has_ratio_one(make_learner, problem_name):
    """While nothing moves, one update epoch measures no KL and clips nothing."""
    learner = make_learner(problem_name, update_epochs=1)
    learner.optimiser.set_rates(0.0, 0.0)
    segment = record(learner)
    before = evaluate_segment(learner.networks, segment)
    metrics = measured(update(learner.networks, segment, learner.optimiser, learner.config))
    assert metrics["approx_kl"] == pytest.approx(0, abs=1e-6)
    assert metrics["clip_fraction"] == 0
    assert metrics["rollout_log_ratio"] < 1e-4
    assert metrics["value"] == pytest.approx(before.value_TB.mean().item())


def test_the_rollouts_log_probabilities_are_only_compared(make_learner, problem_name):
    """Whatever the rollout says, three epochs lead to the same weights; one metric tells the difference."""
    ends, told = [], []
    for error in (0.0, 3.0):
        learner = make_learner(problem_name, update_epochs=3)
        learner.optimiser.set_rates(1e-2, 1e-2)
        segment = record(learner)
        segment = replace(segment, log_prob_TB=segment.log_prob_TB - error)
        told.append(measured(update(learner.networks, segment, learner.optimiser, learner.config)))
        ends.append(learner.learnt())
    assert told[0].pop("rollout_log_ratio") < 1e-4
    assert told[1].pop("rollout_log_ratio") == pytest.approx(3, abs=1e-4)
    assert told[0]["clip_fraction"] > 0
    assert told[0] == told[1]
    for name, x in ends[0].items():
        assert torch.equal(ends[1][name], x), name


def test_every_epoch_bootstraps_anew(make_learner, problem_name, monkeypatch):
    """The value behind the last step is that of the networks as they are in this epoch (Algorithm 1, line 11)."""
    learner = make_learner(problem_name, update_epochs=3)
    learner.optimiser.set_rates(1e-2, 1e-2)
    segment, networks = record(learner), learner.networks
    used, current = [], []

    def noted(now, old, rewards, objective):
        end_B = networks.value(networks.encode(segment.end_BNF), segment.standing_ZB2[-1])
        current.append(end_B.detach())
        used.append(rewards.bootstrap_B)
        return ppo_loss(now, old, rewards, objective)

    monkeypatch.setattr("dact.training.ppo.ppo_loss", noted)
    update(networks, segment, learner.optimiser, learner.config)
    assert len(used) == 3
    torch.testing.assert_close(used, current)
    assert not torch.allclose(current[0], current[1], atol=1e-3)
    assert not torch.allclose(current[1], current[2], atol=1e-3)


def test_a_single_epoch_tells_how_far_the_policy_went(make_learner, problem_name):
    """KL and clip fraction are those of the policy after the step."""
    learner = make_learner(problem_name, update_epochs=1)
    learner.optimiser.set_rates(0.03, 0.0)
    segment = record(learner)
    before = evaluate_segment(learner.networks, segment).log_prob_TB.detach()
    metrics = measured(update(learner.networks, segment, learner.optimiser, learner.config))
    log_ratio = evaluate_segment(learner.networks, segment).log_prob_TB.detach() - before
    assert metrics["approx_kl"] > 1e-3
    assert metrics["approx_kl"] == pytest.approx((log_ratio.exp() - 1 - log_ratio).mean().item(), rel=1e-3)
    assert metrics["clip_fraction"] == pytest.approx(((log_ratio.exp() - 1).abs() > 0.1).float().mean().item())


def test_kl_is_of_all_rows_and_not_of_those_that_gained(make_learner):
    """Of many rows some are looked at, from the first to the last, and each counts by its weight."""
    learner = make_learner(update_epochs=1, rows=64)
    segment = record(learner)
    old = evaluate_segment(learner.networks, segment)
    shift_B = torch.linspace(0, 0.3, 64)
    moved = old._replace(log_prob_TB=(old.log_prob_TB - shift_B).detach())
    weighted = replace(segment, weight_B=torch.linspace(0.5, 1.5, 64))
    kl, clipped = _moved(learner.networks, weighted, moved, 0.1).tolist()
    each_B = shift_B.exp() - 1 - shift_B
    expected = (each_B * weighted.weight_B)[::4].mean() / weighted.weight_B[::4].mean()
    assert kl == pytest.approx(expected.item(), rel=1e-3)
    assert 0.6 < clipped < 0.9


def test_losses_by_hand():
    """Both losses against the formulas, element by element, with ratios and values beyond the clip."""
    config = PpoConfig(clip=0.1)
    old = NetworkOutputs(torch.zeros(1, 4), torch.zeros(1, 4), torch.tensor([[0.0, 0.0, 0.0, 1.0]]))
    ratio = torch.tensor([[1.5, 0.5, 1.5, 1.05]])
    value = torch.tensor([[0.5, -0.5, 0.05, 1.0]])
    returns = torch.tensor([[1.5, -1.5, -0.95, 3.0]])
    now = NetworkOutputs(ratio.log(), torch.zeros(1, 4), value)
    # One step with nothing to follow: the rewards are the returns.
    _, measured_M = ppo_loss(now, old, Rewards(returns, torch.zeros(4), torch.ones(4)), config.objective)
    measured = dict(zip(MEASURED, measured_M.tolist(), strict=True))
    # Advantages 1, -1, -1, 2: min(1.5, 1.1), min(-0.5, -0.9), min(-1.5, -1.1), min(2.1, 2.1).
    assert measured["actor_loss"] == pytest.approx(-(1.1 - 0.9 - 1.5 + 2.1) / 4)
    # Errors: max(1, 1.4), max(1, 1.4), 1, 2; squared.
    assert measured["value_loss"] == pytest.approx((1.96 + 1.96 + 1 + 4) / 4)
    assert measured["clip_fraction"] == pytest.approx(0.75)


def test_entropy(make_learner):
    """The gradient of the entropy is finite where pairs are forbidden."""
    logits = torch.randn(3, 5, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()
    allowed = ~torch.eye(5, dtype=torch.bool).expand(3, 5, 5)
    PairDistribution(logits, allowed).entropy().sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_gradients_of_the_segment_are_those_of_its_steps(make_learner, problem_name):
    """One batch of n * B rows gives the gradient that n batches of B rows give."""
    learner = make_learner(problem_name)
    segment = record(learner)
    parameters = list(learner.networks.policy.parameters())
    whole = evaluate_segment(learner.networks, segment).log_prob_TB.mean()
    at_once = torch.autograd.grad(whole, parameters)
    encode, decode = learner.networks.encode, learner.networks.policy.decode
    steps = [
        PairDistribution(decode(encode(features)), allowed).log_prob(move)
        for features, allowed, move in zip(segment.features_TBNF, segment.open_TBNN, segment.move_TB2, strict=True)
    ]
    one_by_one = torch.autograd.grad(torch.stack(steps).mean(), parameters)
    torch.testing.assert_close(at_once, one_by_one, atol=1e-6, rtol=1e-4)


def test_critic_does_not_train_the_encoder(make_learner):
    """The value of a segment depends on no parameter of the actor."""
    learner = make_learner()
    value_TB = evaluate_segment(learner.networks, record(learner)).value_TB
    gradients = torch.autograd.grad(value_TB.sum(), list(learner.networks.policy.parameters()), allow_unused=True)
    assert all(gradient is None for gradient in gradients)


def test_gradient_norm_is_clipped_per_group(make_learner):
    """Norms above the limit are scaled to it, each group on its own."""
    learner = make_learner(gradient_norm=1e-3, update_epochs=1)
    learner.optimiser.set_rates(0.0, 0.0)
    segment = record(learner)
    kept = []
    learner.optimiser._apply = lambda divisor_G, skipped: kept.append(learner.optimiser.grad_GL / divisor_G[:, None])
    metrics = measured(update(learner.networks, segment, learner.optimiser, learner.config))
    for grad_L, name in zip(kept[0], ("actor_norm", "critic_norm"), strict=True):
        assert metrics[name] > 1e-3
        assert grad_L.norm().item() == pytest.approx(1e-3, rel=1e-4)


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
    """Advantage normalisation, entropy bonus and learning from a share do something, and keep everything finite."""
    after = []
    for options in ({}, {"normalise_advantage": True}, {"entropy_bonus": 0.1}, {"share": 0.5}):
        learner = make_learner(problem="cvrp", **options)
        learner.optimiser.set_rates(1e-3, 1e-3)
        learner.segment()
        after.append(torch.cat([x.flatten() for x in learner.networks.policy.parameters()]))
        assert after[-1].isfinite().all()
    assert all(not torch.equal(after[0], other) for other in after[1:])


def test_rows_count_by_their_weights(make_learner):
    """Two rows with the weight of one and a half each, and two with half of one: as means over such copies."""
    learner = make_learner()
    segment = record(learner)
    now = evaluate_segment(learner.networks, segment)
    rewards = Rewards(segment.reward_TB, torch.zeros(8), torch.tensor([1.5, 0.5] * 4))
    copies_C = [0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7]
    copied = Rewards(segment.reward_TB[:, copies_C], torch.zeros(16), torch.ones(16))
    objective = PpoConfig(entropy_bonus=0.1).objective
    weighted = ppo_loss(now, now, rewards, objective)
    unweighted = ppo_loss(*(NetworkOutputs(*(x[:, copies_C] for x in now)),) * 2, copied, objective)
    torch.testing.assert_close(weighted, unweighted)


@pytest.mark.parametrize(
    ("name", "value"), [("clip", 0.0), ("discount", 1.5), ("kl_limit", -1.0), ("segment", 0), ("share", 0.0)]
)
def test_wrong_settings_are_named(name, value):
    """The error names the setting and its value."""
    with pytest.raises(ValueError, match=rf"ppo\.{name} .*{value}"):
        PpoConfig(**{name: value})

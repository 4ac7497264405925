"""Encoders, decoder, critic: sizes, shapes, symmetries."""

import dataclasses
import itertools

import pytest
import torch

from dact.kernels.pair_logits import Aggregation, pair_logits_blocked, pair_logits_reference
from dact.policy import (
    ENCODERS,
    CriticConfig,
    EncoderConfig,
    Policy,
    PolicyConfig,
    PositionConfig,
    adapted,
    make_critic,
    single_aspect,
)

SMALL = {"dual": EncoderConfig(), "single": EncoderConfig(dim=128, hidden=128)}


def make(encoder: str, norm: str = "instance", features: int = 7) -> Policy:
    """A policy from a fixed seed."""
    torch.manual_seed(0)
    config = dataclasses.replace(SMALL[encoder], norm=norm)
    return Policy(PolicyConfig(features=features, encoder=encoder, encoder_config=config))


def parameter_count(policy: Policy) -> int:
    """Numbers that are learnt."""
    return sum(parameter.numel() for parameter in policy.parameters())


@pytest.mark.parametrize(("features", "count"), [(2, 280_801), (7, 281_121)])
def test_dual_aspect_policy_has_the_authors_size(features: int, count: int) -> None:
    """280,801 parameters for TSP and 281,121 for CVRP."""
    assert parameter_count(Policy(PolicyConfig(features=features))) == count


def test_single_aspect_policy_has_the_papers_size() -> None:
    """About 0.37 M parameters."""
    assert 0.36e6 < parameter_count(Policy(single_aspect(2))) < 0.375e6


@pytest.mark.parametrize(("encoder", "norm"), list(itertools.product(sorted(ENCODERS), ["instance", "layer"])))
def test_encoders_are_equivariant(encoder: str, norm: str) -> None:
    """Nodes together with their places may be listed in any order."""
    policy = make(encoder, norm).double()
    generator = torch.Generator().manual_seed(1)
    features = torch.rand(3, 11, 7, generator=generator, dtype=torch.float64)
    places = policy.places(11, torch.device("cpu")).double()
    order = torch.randperm(11, generator=generator)
    aspects = policy.encoder(features, places)
    shuffled = policy.encoder(features[:, order], places[order])
    torch.testing.assert_close(shuffled, aspects[:, :, order])
    logits = policy.decode(aspects)
    torch.testing.assert_close(policy.decode(shuffled), logits[:, order][:, :, order])


@pytest.mark.parametrize("encoder", sorted(ENCODERS))
def test_rows_do_not_mix(encoder: str) -> None:
    """A row's logits and value do not depend on its neighbours in the batch, and a batch of one works."""
    policy, critic = make(encoder), make_critic(make(encoder).config)
    features = torch.rand(4, 9, 7)
    aspects = policy.encode(features)
    alone = policy.encode(features[2:3])
    torch.testing.assert_close(alone[:, 0], aspects[:, 2], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(critic(alone), critic(aspects)[2:3], atol=1e-5, rtol=1e-4)


def test_a_critic_may_see_the_incumbents_cost() -> None:
    """It begins with the values it had without, then the costs move them; without costs it says what it lacks."""
    policy = make("dual")
    plain = make_critic(policy.config)
    aspects, standing = policy.encode(torch.rand(3, 9, 7)), torch.rand(3, 2)
    shown = adapted(policy, plain, CriticConfig(incumbent=True))
    assert policy.config.critic_config.incumbent
    torch.testing.assert_close(shown(aspects, standing), plain(aspects, standing))
    (gradient,) = torch.autograd.grad(shown(aspects, standing).sum(), [shown.standing.weight])
    assert gradient.any()
    torch.nn.init.ones_(shown.standing.weight)
    assert not torch.allclose(shown(aspects, standing), plain(aspects))
    with pytest.raises(ValueError, match="needs the costs of the incumbent"):
        shown(aspects)


def test_units_with_a_slope_do_not_die() -> None:
    """A critic whose last units are all below zero is a constant without a gradient; a slope brings both back."""
    policy = make("dual")
    dead = make_critic(policy.config)
    torch.nn.init.constant_(dead.second.bias, -1000.0)
    aspects = policy.encode(torch.rand(3, 9, 7))
    alive = adapted(policy, dead, CriticConfig(slope=0.01))
    assert policy.config.critic_config.slope == 0.01
    assert dead(aspects).std() == 0
    assert alive(aspects).std() > 0
    gradients = [torch.autograd.grad(critic(aspects).sum(), [critic.second.weight])[0] for critic in (dead, alive)]
    assert not gradients[0].any()
    assert gradients[1].any()
    with pytest.raises(ValueError, match=r"critic\.slope 1 is not"):
        CriticConfig(slope=1)


@pytest.mark.parametrize("encoder", sorted(ENCODERS))
def test_logits_stay_within_the_clip(encoder: str) -> None:
    """C * tanh keeps every logit between -6 and 6, whatever the features."""
    logits = make(encoder)(1000 * torch.rand(2, 6, 7))
    assert logits.shape == (2, 6, 6)
    assert logits.abs().max() <= 6


@pytest.mark.parametrize("encoder", sorted(ENCODERS))
def test_every_parameter_receives_a_gradient(encoder: str) -> None:
    """Nothing in the network is unused."""
    policy = make(encoder, "layer")
    policy(torch.rand(2, 8, 7)).square().sum().backward()
    idle = [name for name, value in policy.named_parameters() if value.grad is None or not value.grad.any()]
    assert idle == []


def test_the_place_in_the_tour_matters() -> None:
    """The same nodes in another order along the tour get other logits."""
    policy = make("dual")
    features = torch.rand(1, 8, 7)
    turned = policy(features.roll(3, 1)).roll((-3, -3), (1, 2))
    assert (turned - policy(features)).abs().max() > 1e-3


def test_blocked_pair_logits_equal_the_reference() -> None:
    """The cache-sized form gives the reference's numbers, across block borders too."""
    torch.manual_seed(0)
    network = Aggregation(*(torch.randn(*shape) for shape in ((32, 8), (32,), (32, 32), (32,), (1, 32), (1,))))
    for rows, size in ((1, 1), (2, 7), (1, 65), (3, 100)):
        query, key = torch.randn(rows, 8, size, 16), torch.randn(rows, 8, size, 16)
        expected = pair_logits_reference(query, key, network)
        torch.testing.assert_close(pair_logits_blocked(query, key, network), expected, atol=1e-3, rtol=1e-4)


def test_gradient_free_policy_equals_the_one_with_gradients() -> None:
    """The forms used in search and in training are one function."""
    policy = make("dual")
    features = torch.rand(3, 30, 7)
    with torch.inference_mode():
        fast = policy(features)
    torch.testing.assert_close(fast, policy(features), atol=1e-4, rtol=1e-4)


def test_config_survives_plain_containers() -> None:
    """`from_dict` inverts `to_dict`."""
    config = PolicyConfig(features=7, position=PositionConfig(kind="cyclic_paper", wavelength_length=70))
    assert PolicyConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("make_config", "message"),
    [
        (lambda: EncoderConfig(dim=65), "dim 65 is not a multiple of its 4 heads"),
        (lambda: EncoderConfig(layers=0), "encoder layers is 0"),
        (lambda: EncoderConfig(norm="batch"), "norm 'batch' is not one of"),
        (lambda: PolicyConfig(features=2, encoder="triple"), "encoder 'triple' is not one of"),
    ],
)
def test_wrong_settings_are_named(make_config: object, message: str) -> None:
    """A wrong value is refused with its name."""
    with pytest.raises(ValueError, match=message):
        make_config()  # type: ignore[operator]

"""What the heads look at."""

import pytest
import torch

from dact.kernels.dual_attention import dual_attention
from dact.policy import Policy, PolicyConfig, single_aspect
from dact.policy.attention import TERMS, attention_weights, correlation_terms
from dact.policy.encoders.base import project

N, B = 7, 3


def features(generator: torch.Generator) -> torch.Tensor:
    """Of a few tours."""
    return torch.rand(B, N, 2, generator=generator)


@pytest.mark.parametrize(("config", "aspects"), [(PolicyConfig(features=2), 2), (single_aspect(2), 1)])
def test_shapes_and_sums(config: PolicyConfig, aspects: int, generator: torch.Generator):
    """Every row of weights adds up to one, for each layer, aspect and head, and no hook stays behind."""
    policy = Policy(config)
    weight = attention_weights(policy, features(generator))
    assert weight.shape == (3, aspects, B, 4, N, N)
    torch.testing.assert_close(weight.sum(-1), torch.ones(weight.shape[:-1]))
    assert not any(module._forward_pre_hooks for module in policy.modules())


def test_weights_are_those_of_the_encoder(generator: torch.Generator):
    """Values weighed by them are what the first layer's attention gives."""
    policy, features_BNF = Policy(PolicyConfig(features=2)), features(generator)
    weight_SBHNN = attention_weights(policy, features_BNF)[0]
    node_BND = policy.encoder.embed(features_BNF)
    x_SBND = torch.stack((node_BND, policy.places(N, features_BNF.device).expand_as(node_BND)))
    packed_SBNE = project(x_SBND, policy.encoder.layers[0].packed_SDE)
    value_SBHNK = packed_SBNE[..., 128:192].unflatten(3, (4, 16)).transpose(2, 3)
    own_SBND = (weight_SBHNN @ value_SBHNK).transpose(2, 3).flatten(3)
    torch.testing.assert_close(own_SBND, dual_attention(packed_SBNE, 4)[..., :64])


def test_terms_add_up(generator: torch.Generator):
    """The four terms together are the scores of a policy that adds its encodings."""
    policy, features_BNF = Policy(single_aspect(2)), features(generator)
    terms = correlation_terms(policy, features_BNF)
    assert tuple(terms) == TERMS
    torch.testing.assert_close(sum(terms.values()).softmax(-1), attention_weights(policy, features_BNF)[0, 0])


def test_terms_of_two_aspects(generator: torch.Generator):
    """A policy that keeps its aspects apart has no mixed terms."""
    with pytest.raises(ValueError, match="keeps nodes and positions apart"):
        correlation_terms(Policy(PolicyConfig(features=2)), features(generator))

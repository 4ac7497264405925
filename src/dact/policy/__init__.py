"""The policy and critic networks. They see node features in tour order, never a problem."""

from dact.policy.critic import Critic, CriticConfig
from dact.policy.decoder import DecoderConfig
from dact.policy.distribution import PairDistribution
from dact.policy.encoders import ENCODERS, EncoderConfig
from dact.policy.policy import Policy, PolicyConfig, adapted, make_critic, single_aspect
from dact.policy.positions import PositionConfig
from dact.policy.weights import Library, Weights, find_weights, load_weights, save_weights, starting_weights

__all__ = [
    "ENCODERS",
    "Critic",
    "CriticConfig",
    "DecoderConfig",
    "EncoderConfig",
    "Library",
    "PairDistribution",
    "Policy",
    "PolicyConfig",
    "PositionConfig",
    "Weights",
    "adapted",
    "find_weights",
    "load_weights",
    "make_critic",
    "save_weights",
    "single_aspect",
    "starting_weights",
]

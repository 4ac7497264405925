"""The policy network: encoder, decoder and critic under one config."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from dact.policy.critic import Critic, CriticConfig
from dact.policy.decoder import Decoder, DecoderConfig
from dact.policy.encoders import ENCODERS, EncoderConfig
from dact.policy.positions import PositionConfig, encoding
from dact.policy.recording import Playback
from dact.policy.sizes import check_sizes
from dact.threads import map_rows

# Pairs of positions that a core works on at a time: the attention scores of all heads, 1.3 MB, stay in its cache.
CPU_PAIRS = 40_000


@dataclass(frozen=True, kw_only=True)
class PolicyConfig:
    """Everything needed to build the networks. The defaults are the paper's DACT with the authors' norm."""

    features: int
    encoder: str = "dual"
    encoder_config: EncoderConfig = field(default_factory=EncoderConfig)
    decoder_config: DecoderConfig = field(default_factory=DecoderConfig)
    critic_config: CriticConfig = field(default_factory=CriticConfig)
    position: PositionConfig = field(default_factory=PositionConfig)

    def __post_init__(self) -> None:
        check_sizes(self, "policy", "features")
        if self.encoder not in ENCODERS:
            raise ValueError(f"encoder '{self.encoder}' is not one of {', '.join(ENCODERS)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain containers, for JSON and TOML."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "PolicyConfig":
        """The inverse of `to_dict`."""
        return cls(
            features=plain["features"],
            encoder=plain["encoder"],
            encoder_config=EncoderConfig(**plain["encoder_config"]),
            decoder_config=DecoderConfig(**plain["decoder_config"]),
            critic_config=CriticConfig(**plain["critic_config"]),
            position=PositionConfig(**plain["position"]),
        )


def single_aspect(features: int) -> PolicyConfig:
    """SA-T of Table 3: one aspect of width 128, 0.37 M parameters."""
    return PolicyConfig(
        features=features,
        encoder="single",
        encoder_config=EncoderConfig(dim=128, hidden=128),
        decoder_config=DecoderConfig(head_dim=32),
    )


class Policy(nn.Module):
    """Node features in tour order to logits over position pairs (the actor)."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = ENCODERS[config.encoder](config.features, config.encoder_config)
        self.decoder = Decoder(self.encoder.aspects, config.encoder_config.dim, config.decoder_config)
        self._tables: dict[tuple[int, torch.device], Tensor] = {}
        self._playback = Playback(self.encoder, self.decoder)

    def forward(self, features_BNF: Tensor) -> Tensor:
        """(B, N, N) logits, before any mask."""
        if torch.is_grad_enabled() or features_BNF.device.type != "cpu":
            return self.decode(self.encode(features_BNF))
        if features_BNF.shape[0] == 1:
            return self._playback(features_BNF, self.places(features_BNF.shape[1], features_BNF.device))
        most = CPU_PAIRS // features_BNF.shape[1] ** 2
        return map_rows(lambda part: self.decode(self.encode(part)), features_BNF, most)

    def encode(self, features_BNF: Tensor) -> Tensor:
        """(S, B, N, D) aspects."""
        aspects: Tensor = self.encoder(features_BNF, self.places(features_BNF.shape[1], features_BNF.device))
        return aspects

    def decode(self, aspects_SBND: Tensor) -> Tensor:
        """(B, N, N) logits of aspects."""
        logits: Tensor = self.decoder(aspects_SBND)
        return logits

    def places(self, length: int, device: torch.device) -> Tensor:
        """The (N, D) encoding of the positions, made once per length and device."""
        key = (length, device)
        if key not in self._tables:
            table = encoding(length, self.config.encoder_config.dim, self.config.position)
            self._tables[key] = table.to(device)
        return self._tables[key]


def make_critic(config: PolicyConfig) -> Critic:
    """The critic that fits the policy of this config."""
    return Critic(ENCODERS[config.encoder].aspects, config.encoder_config.dim, config.critic_config)


def adapted(policy: Policy, critic: Critic, wanted: CriticConfig) -> Critic:
    """A trained critic with the wanted options; the policy's config is updated.

    If it is to see the incumbent's cost, that input has no effect on its values at first.
    """
    known = policy.config.critic_config
    options = replace(known, incumbent=known.incumbent or wanted.incumbent, slope=wanted.slope)
    if options == known:
        return critic
    policy.config = replace(policy.config, critic_config=options)
    changed = make_critic(policy.config)
    changed.load_state_dict(changed.state_dict() | critic.state_dict())
    return changed

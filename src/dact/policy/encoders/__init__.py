"""Encoders turn node features and places into aspects. To add one: its file, a line in ENCODERS, a TOML."""

from dact.policy.encoders.base import Encoder, EncoderConfig
from dact.policy.encoders.dual import DualAspectEncoder
from dact.policy.encoders.single import SingleAspectEncoder

ENCODERS: dict[str, type[Encoder]] = {"dual": DualAspectEncoder, "single": SingleAspectEncoder}

__all__ = ["ENCODERS", "DualAspectEncoder", "Encoder", "EncoderConfig", "SingleAspectEncoder"]

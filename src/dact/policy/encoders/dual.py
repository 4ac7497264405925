"""The dual-aspect collaborative encoder (section 4.2): node aspect 0, position aspect 1, stacked as S = 2."""

import torch
from torch import Tensor, nn

from dact.kernels.dual_attention import dual_attention
from dact.kernels.dual_layer import DualLayer, encode, half_precision, has_kernels
from dact.policy.encoders.base import Encoder, EncoderConfig, FeedForward, matrices, project
from dact.policy.norm import make_norm


class DualAspectAttention(nn.Module):
    """DAC-Att (Eqs. 7-10) with skip connection and norm."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.packed_SDE = matrices(2, config.dim, 4 * config.dim)
        """Queries, keys, values, referential values."""
        self.out_SED = matrices(2, 2 * config.dim, config.dim)
        self.norm = make_norm(config.norm, 2, config.dim)

    def forward(self, x_SBND: Tensor) -> Tensor:
        """LN(x + DAC-Att(x)) for both aspects."""
        merged_SBNE = dual_attention(project(x_SBND, self.packed_SDE), self.heads)
        normed: Tensor = self.norm(x_SBND, project(merged_SBNE, self.out_SED))
        return normed


class DualAspectEncoder(Encoder):
    """Encodes nodes and positions in parallel; each aspect also uses the other's attention."""

    aspects = 2

    def __init__(self, features: int, config: EncoderConfig) -> None:
        super().__init__(features, config)
        self.layers = nn.Sequential()
        for _ in range(config.layers):
            self.layers.append(DualAspectAttention(config))
            self.layers.append(FeedForward(2, config))

    def forward(self, features_BNF: Tensor, place_ND: Tensor) -> Tensor:
        """(2, B, N, D): the node aspect, then the position aspect.

        Under autocast on a GPU whole layers are kernels, and float32 aspects come out where gradients are wanted.
        """
        half = half_precision(features_BNF) if self.has_kernels(features_BNF.shape[1]) else None
        if half is not None:
            return encode(features_BNF, place_ND, self.embed.weight, self.weights(), self.config.heads, half)
        node_BND = self.embed(features_BNF)
        aspects_SBND: Tensor = self.layers(torch.stack((node_BND, place_ND.expand_as(node_BND))))
        return aspects_SBND

    def has_kernels(self, length: int) -> bool:
        """Are there kernels, with gradients, for tours of this length in half precision?"""
        config = self.config
        return config.norm == "instance" and has_kernels(length, config.dim, config.heads, config.hidden)

    def weights(self) -> list[DualLayer]:
        """Weights of each attention and feed-forward pair, without those of their norms."""
        layers, modules = [], iter(self.layers)
        for attention, forward in zip(modules, modules, strict=True):
            assert isinstance(attention, DualAspectAttention)
            assert isinstance(forward, FeedForward)
            network = (forward.into_SDC, forward.into_bias_S1C, forward.out_SCD, forward.out_bias_S1D)
            layers.append(DualLayer(attention.packed_SDE, attention.out_SED, *network))
        return layers

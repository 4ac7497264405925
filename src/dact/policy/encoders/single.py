"""The single-aspect encoder of the ablation (SA-T, Table 3): places are added to the nodes' embeddings."""

from torch import Tensor, nn

from dact.kernels.dual_attention import attend
from dact.policy.encoders.base import Encoder, EncoderConfig, FeedForward, matrices, project, split_heads
from dact.policy.norm import make_norm


class SelfAttention(nn.Module):
    """Plain multi-head self-attention with skip connection and norm."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.packed_SDE = matrices(1, config.dim, 3 * config.dim)
        self.out_SDD = matrices(1, config.dim, config.dim)
        self.norm = make_norm(config.norm, 1, config.dim)

    def forward(self, x_SBND: Tensor) -> Tensor:
        """LN(x + attention(x))."""
        query, key, value = (
            split_heads(project(x_SBND, self.packed_SDE)[0], 3, self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        )
        seen_BHNK = attend(query, key, value)
        merged_SBND = seen_BHNK.transpose(1, 2).flatten(2).unsqueeze(0)
        normed: Tensor = self.norm(x_SBND, project(merged_SBND, self.out_SDD))
        return normed


class SingleAspectEncoder(Encoder):
    """One stream that mixes nodes and places from the start."""

    aspects = 1

    def __init__(self, features: int, config: EncoderConfig) -> None:
        super().__init__(features, config)
        self.layers = nn.Sequential()
        for _ in range(config.layers):
            self.layers.append(SelfAttention(config))
            self.layers.append(FeedForward(1, config))

    def forward(self, features_BNF: Tensor, place_ND: Tensor) -> Tensor:
        """(1, B, N, D)."""
        aspects_SBND: Tensor = self.layers((self.embed(features_BNF) + place_ND).unsqueeze(0))
        return aspects_SBND

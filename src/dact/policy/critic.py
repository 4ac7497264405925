"""The critic (Appendix C): what improvement is still to be expected from this state."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dact.kernels.dual_attention import attend
from dact.policy.encoders.base import split_heads
from dact.policy.norm import InstanceNorm


@dataclass(frozen=True, kw_only=True)
class CriticConfig:
    """Sizes of the critic; the defaults are the paper's, with the authors' head width."""

    heads: int = 6
    hidden: int = 128
    last: int = 64


class Critic(nn.Module):
    """One attention layer over the concatenated aspects, mean-pooling and a four-layer network."""

    def __init__(self, aspects: int, dim: int, config: CriticConfig) -> None:
        super().__init__()
        width = aspects * dim
        self.heads = config.heads
        inner = width // config.heads * config.heads
        self.packed = nn.Linear(width, 3 * inner, bias=False)
        self.out = nn.Linear(inner, width, bias=False)
        self.into = nn.Linear(width, width)
        self.onward = nn.Linear(width, width)
        self.norm = InstanceNorm()
        self.local = nn.Linear(width, width, bias=False)
        self.whole = nn.Linear(width, width, bias=False)
        self.first = nn.Linear(width, config.hidden)
        self.second = nn.Linear(config.hidden, config.last)
        self.third = nn.Linear(config.last, 1)

    def forward(self, aspects_SBND: Tensor) -> Tensor:
        """(B,) values. Callers detach the aspects: the critic does not train the encoder."""
        x_BNW = aspects_SBND.permute(1, 2, 0, 3).flatten(2)
        x_BNW = self._normed(x_BNW, self._attend(x_BNW))
        x_BNW = self._normed(x_BNW, self.onward(self.into(x_BNW).relu()))
        mean_BW = x_BNW.mean(1)
        # The mean of (local x + whole mean) over nodes, without forming it per node.
        pooled_BW = self.local(mean_BW) + self.whole(mean_BW)
        hidden = torch.relu(self.second(torch.relu(self.first(pooled_BW))))
        value_B: Tensor = self.third(hidden).squeeze(1)
        return value_B

    def _attend(self, x_BNW: Tensor) -> Tensor:
        query, key, value = split_heads(self.packed(x_BNW), 3, self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        seen_BHNK = attend(query, key, value)
        attended: Tensor = self.out(seen_BHNK.transpose(1, 2).flatten(2))
        return attended

    def _normed(self, x_BNW: Tensor, y_BNW: Tensor) -> Tensor:
        normed: Tensor = self.norm(x_BNW.unsqueeze(0), y_BNW.unsqueeze(0))
        return normed.squeeze(0)

"""The critic (Appendix C): the expected further improvement from a state."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from dact.kernels.value_layer import ValueLayer, value_layer
from dact.policy.sizes import check_sizes

STANDING = 2
"""Number of extra inputs besides the aspects."""


@dataclass(frozen=True, kw_only=True)
class CriticConfig:
    """Sizes of the critic; the defaults are the paper's, with the authors' head width."""

    heads: int = 6
    hidden: int = 128
    last: int = 64
    incumbent: bool = False
    """Input the costs of the incumbent and the current tour too, on which the rewards depend. Not in the paper."""
    slope: float = 0.0
    """Negative slope of the last ReLUs. With the paper's 0 units die over time; with 0.01 they can recover."""

    def __post_init__(self) -> None:
        check_sizes(self, "critic", "heads", "hidden", "last")
        if not 0 <= self.slope < 1:
            raise ValueError(f"critic.slope {self.slope} is not at least 0 and below 1")


class Critic(nn.Module):
    """One attention layer over the concatenated aspects, mean-pooling and a four-layer network."""

    def __init__(self, aspects: int, dim: int, config: CriticConfig) -> None:
        super().__init__()
        width = aspects * dim
        self.heads, self.slope = config.heads, config.slope
        inner = width // config.heads * config.heads
        self.packed = nn.Linear(width, 3 * inner, bias=False)
        self.out = nn.Linear(inner, width, bias=False)
        self.into = nn.Linear(width, width)
        self.onward = nn.Linear(width, width)
        self.local = nn.Linear(width, width, bias=False)
        self.whole = nn.Linear(width, width, bias=False)
        self.first = nn.Linear(width, config.hidden)
        self.second = nn.Linear(config.hidden, config.last)
        self.third = nn.Linear(config.last, 1)
        self.standing = nn.Linear(STANDING, config.hidden, bias=False) if config.incumbent else None
        if self.standing is not None:
            # Zero at first, so that a critic trained without these inputs keeps its values.
            nn.init.zeros_(self.standing.weight)

    def forward(self, aspects_SBND: Tensor, standing_BX: Tensor | None = None) -> Tensor:
        """(B,) values. The aspects get no gradient: the critic does not train the encoder.

        `standing`: scale-free costs of the incumbent and the current tour; used if the config says so.
        """
        mean_BW = value_layer(aspects_SBND, self._layer(), self.heads)
        # The mean of (local x + whole mean) over nodes, without forming it per node.
        pooled_BW = functional.linear(mean_BW, self.local.weight + self.whole.weight)
        hidden = self.first(pooled_BW)
        if self.standing is not None:
            if standing_BX is None:
                raise ValueError("this critic needs the costs of the incumbent and of the current tour")
            hidden = torch.addmm(hidden, standing_BX, self.standing.weight.t())
        hidden = functional.leaky_relu(self.second(functional.leaky_relu(hidden, self.slope)), self.slope)
        value_B: Tensor = self.third(hidden).squeeze(1)
        return value_B

    def _layer(self) -> ValueLayer:
        return ValueLayer(
            self.packed.weight,
            self.out.weight,
            *(self.into.weight, self.into.bias),
            *(self.onward.weight, self.onward.bias),
        )

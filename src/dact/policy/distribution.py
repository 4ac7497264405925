"""A distribution over the pairs of positions that may be moved."""

import torch
from torch import Tensor

# Finite, so that gradients of the entropy are; its exponential is exactly zero beside any allowed logit.
FORBIDDEN = -1e9


class PairDistribution:
    """Softmax of logits over the allowed pairs. `allowed_BNN` is True where a pair may be drawn."""

    def __init__(self, logits_BNN: Tensor, allowed_BNN: Tensor) -> None:
        self.logits_BNN = logits_BNN.masked_fill(~allowed_BNN, FORBIDDEN)

    def sample(self, draw_2B: Tensor) -> Tensor:
        """A move_B2 per row, by inverting the distribution function: first the first position, then the second.

        Draws are uniform in [0, 1), in float64, where the largest is too small to round up to the whole mass. So the
        first entry whose cumulated mass exceeds the draw always has mass of its own: a forbidden pair is never drawn.
        """
        size = self.logits_BNN.shape[2]
        peak_B11 = self.logits_BNN.amax((1, 2), keepdim=True)
        mass_BNN = (self.logits_BNN - peak_B11).exp_()
        draw_2B1 = draw_2B.unsqueeze(2)
        first_B1 = _invert(mass_BNN.sum(2), draw_2B1[0])
        row_BN = mass_BNN.gather(1, first_B1.unsqueeze(2).expand(-1, -1, size)).squeeze(1)
        return torch.cat((first_B1, _invert(row_BN, draw_2B1[1])), dim=1)

    def greedy(self) -> Tensor:
        """The most probable move_B2 per row."""
        size = self.logits_BNN.shape[2]
        best_B = self.logits_BNN.flatten(1).argmax(1)
        return torch.stack((best_B // size, best_B % size), dim=1)

    def log_prob(self, move_B2: Tensor) -> Tensor:
        """Log-probability of a move per row."""
        size = self.logits_BNN.shape[2]
        flat_BP = self.logits_BNN.flatten(1)
        chosen_B1 = flat_BP.gather(1, move_B2[:, :1] * size + move_B2[:, 1:])
        return chosen_B1.squeeze(1) - flat_BP.logsumexp(1)

    def entropy(self) -> Tensor:
        """Entropy in nats per row."""
        log_BP = self.logits_BNN.flatten(1).log_softmax(1)
        return -(log_BP.exp() * log_BP).sum(1)


def _invert(mass_BN: Tensor, draw_B1: Tensor) -> Tensor:
    """(B, 1): the first index whose cumulated mass exceeds draw * total."""
    cumulated_BN = mass_BN.cumsum(1, dtype=torch.float64)
    target_B1 = draw_B1 * cumulated_BN[:, -1:]
    index_B1 = torch.searchsorted(cumulated_BN, target_B1, right=True)
    return index_B1.clamp_(max=mass_BN.shape[1] - 1)

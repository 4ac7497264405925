"""A distribution over the pairs of positions that may be moved."""

from torch import Tensor

from dact.kernels.pick_move import Tabu, best_pair, draw_new, draw_pair

# Finite, so that gradients of the entropy are finite; its exponential is exactly zero next to any allowed logit.
FORBIDDEN = -1e9


class PairDistribution:
    """Softmax of logits over the allowed pairs. `allowed_BNN` is True where a pair may be drawn."""

    def __init__(self, logits_BNN: Tensor, allowed_BNN: Tensor) -> None:
        self.logits_BNN = logits_BNN.masked_fill(~allowed_BNN, FORBIDDEN)

    def sample(self, draw_2B: Tensor, tabu: Tabu | None = None) -> Tensor:
        """A move_B2 per row, by two uniform numbers each, float64 in [0, 1); a forbidden pair is never drawn. With
        `tabu`, a move that leads back to a recent tour is drawn again."""
        peak_B11 = self.logits_BNN.amax((1, 2), keepdim=True)
        mass_BNN = (self.logits_BNN - peak_B11).exp_()
        return draw_pair(mass_BNN, draw_2B) if tabu is None else draw_new(mass_BNN, draw_2B, tabu)

    def greedy(self) -> Tensor:
        """The most probable move_B2 per row."""
        return best_pair(self.logits_BNN)

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

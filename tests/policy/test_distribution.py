"""The distribution over pairs."""

import pytest
import torch

from dact.kernels.row_draws import row_draws, streams
from dact.policy import PairDistribution


def make(size: int = 5, rows: int = 1, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Random logits, and about half of the pairs allowed."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(rows, size, size, generator=generator)
    return logits, torch.rand(rows, size, size, generator=generator) < 0.5


def draw(rows: int, seed: int) -> torch.Tensor:
    """(2, rows): what a step draws by."""
    return row_draws(streams(seed, range(rows), "cpu"))


def test_sampled_frequencies_match_the_probabilities() -> None:
    """A chi-square test over 200,000 draws does not tell the sample from the softmax."""
    logits, allowed = make()
    draws = 200_000
    many = PairDistribution(logits.expand(draws, -1, -1), allowed.expand(draws, -1, -1))
    move_B2 = many.sample(draw(draws, 3))
    counts = torch.bincount(move_B2[:, 0] * 5 + move_B2[:, 1], minlength=25).double()
    expected = logits.masked_fill(~allowed, -torch.inf).flatten().double().softmax(0) * draws
    assert counts[expected == 0].sum() == 0
    kept = expected > 0
    statistic = ((counts - expected)[kept].square() / expected[kept]).sum()
    # The 99.9 % point of chi-square with at most 24 degrees of freedom is 51.2.
    assert statistic < 51.2


def test_a_forbidden_pair_is_never_drawn() -> None:
    """One allowed pair of tiny probability among forbidden ones of huge logits is drawn every time."""
    logits = torch.full((1000, 4, 4), 1e4)
    allowed = torch.zeros(1000, 4, 4, dtype=torch.bool)
    allowed[:, 2, 1] = True
    logits[:, 2, 1] = -1e4
    moves = PairDistribution(logits, allowed).sample(draw(len(logits), 0))
    assert (moves == torch.tensor([2, 1])).all()


def test_log_prob_and_entropy_are_those_of_a_softmax() -> None:
    """Against torch's own categorical distribution over the allowed pairs."""
    logits, allowed = make(rows=3)
    pairs = PairDistribution(logits, allowed)
    truth = torch.distributions.Categorical(logits=logits.masked_fill(~allowed, -1e30).flatten(1))
    move_B2 = pairs.sample(draw(3, 1))
    torch.testing.assert_close(pairs.log_prob(move_B2), truth.log_prob(move_B2[:, 0] * 5 + move_B2[:, 1]))
    torch.testing.assert_close(pairs.entropy(), truth.entropy())


def test_greedy_takes_the_largest_allowed_logit() -> None:
    """The most probable pair, not the largest forbidden one."""
    logits = torch.tensor([[[0.0, 5.0], [9.0, 0.0]]])
    allowed = torch.tensor([[[True, True], [False, True]]])
    assert PairDistribution(logits, allowed).greedy().tolist() == [[0, 1]]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_draws_give_the_same_sample(seed: int) -> None:
    """Nothing else decides."""
    logits, allowed = make(rows=50)
    pairs = PairDistribution(logits, allowed)
    first = pairs.sample(draw(50, seed))
    assert torch.equal(first, pairs.sample(draw(50, seed)))
    assert not torch.equal(first, pairs.sample(draw(50, seed + 5)))


def test_gradients_do_not_see_forbidden_pairs() -> None:
    """Entropy and log-probability are differentiable with masked pairs in the batch."""
    logits, allowed = make(rows=3)
    logits.requires_grad_()
    pairs = PairDistribution(logits, allowed)
    (pairs.entropy().sum() + pairs.log_prob(pairs.sample(draw(3, 0))).sum()).backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
    assert not logits.grad[~allowed].any()

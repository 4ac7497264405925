"""The decoder's log-probability: what training asks for, against the logits that the search uses."""

import pytest
import torch
from torch import Tensor

from dact.kernels.context import context_reference, contexts_and_queries
from dact.policy import ENCODERS, EncoderConfig, PairDistribution
from dact.policy.decoder import Decoder, DecoderConfig

ROWS, SIZE = 3, 9


def decoder_and_aspects(encoder: str) -> tuple[Decoder, Tensor]:
    """In float64, of the sizes that an encoder asks for."""
    torch.manual_seed(2)
    aspects, dim = ENCODERS[encoder].aspects, EncoderConfig().dim
    decoder = Decoder(aspects, dim, DecoderConfig(head_dim=32)).double()
    return decoder, torch.randn(aspects, ROWS, SIZE, dim, dtype=torch.float64, requires_grad=True)


def pairs() -> tuple[Tensor, Tensor]:
    """All pairs but those of a position with itself, and a move per row."""
    open_BNN = ~torch.eye(SIZE, dtype=torch.bool).expand(ROWS, -1, -1)
    return open_BNN, torch.tensor([[0, 3], [8, 2], [4, 5]])


@pytest.mark.parametrize("method", ["log_prob", "folded_log_prob"])
@pytest.mark.parametrize("encoder", sorted(ENCODERS))
def test_log_prob_and_entropy_are_those_of_the_logits(encoder: str, method: str) -> None:
    """Values and gradients agree with the distribution over the decoder's logits, in either form."""
    decoder, aspects = decoder_and_aspects(encoder)
    open_BNN, move_B2 = pairs()
    leaves = [aspects, *decoder.parameters()]
    moves = PairDistribution(decoder(aspects), open_BNN)
    expected = moves.log_prob(move_B2), moves.entropy()
    actual = getattr(decoder, method)(aspects, open_BNN, move_B2)
    for ours, theirs in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours, theirs)
        gradients = (torch.autograd.grad(each.sum(), leaves, retain_graph=True) for each in (ours, theirs))
        torch.testing.assert_close(*gradients, rtol=1e-7, atol=1e-9)


def test_aspects_in_half_precision() -> None:
    """Contexts and queries come in half precision, and matrices keep gradients of their own dtype, near the truth."""
    torch.manual_seed(3)
    # No two places are equal, so that pooling takes the same ones in either precision.
    x = torch.rand(2, 6, SIZE, 64).argsort(2) / 4
    matrices = [(torch.randn(2, 64, width) / 8).requires_grad_() for width in (64, 64, 256)]
    half, plain = x.half().requires_grad_(), x.clone().requires_grad_()
    incoming = torch.randn(2, 6, SIZE, 64), torch.randn(2, 6, SIZE, 256)
    made = contexts_and_queries(half, *matrices)
    assert {each.dtype for each in made} == {torch.float16}
    actual = torch.autograd.grad(made, (half, *matrices), [grad.half() for grad in incoming])
    expected = torch.autograd.grad(context_reference(plain, *matrices), (plain, *matrices), incoming)
    assert [grad.dtype for grad in actual] == [torch.float16, *[torch.float32] * 3]
    for ours, theirs in zip(actual, expected, strict=True):
        assert (ours - theirs).norm() < 3e-3 * theirs.norm()

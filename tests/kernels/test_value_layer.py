"""The critic's layer in few kernels against plain PyTorch, outputs and gradients."""

import pytest
import torch
from comparing import distance
from torch import Tensor

from dact.kernels.value_layer import ValueLayer, value_layer, value_layer_reference

pytest.importorskip("triton")
WIDTH, HEADS, HEAD = 32, 3, 10
TOLERANCE = {torch.float32: 5e-6, torch.float16: 6e-3}


def case(rows: int, size: int, device: str) -> tuple[Tensor, ValueLayer]:
    """Two aspects, and weights of three heads of ten numbers: neither aligned nor filling the width.

    Hidden units are seldom near zero, where rounding to half precision would wake one up or put it to sleep.
    """
    torch.manual_seed(size)
    inner = HEADS * HEAD
    shapes = ((3 * inner, WIDTH), (WIDTH, inner), (WIDTH, WIDTH), (WIDTH,), (WIDTH, WIDTH), (WIDTH,))
    sizes = (0.3, 0.3, 0.03, 1.0, 0.3, 0.3)
    each = (size * torch.randn(*shape, device=device) for size, shape in zip(sizes, shapes, strict=True))
    layer = ValueLayer(*each)
    layer = layer._replace(into_bias=0.5 * layer.into_bias.sign())
    for x in layer:
        x.requires_grad_()
    return torch.randn(2, rows, size, WIDTH // 2, device=device), layer


@pytest.mark.parametrize("size", [1, 5, 16, 17, 33, 65])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_forward(size: int, dtype: torch.dtype, device: str) -> None:
    """With gradients and without, the kernels give the reference's means, in float32."""
    from dact.kernels.value_layer.fused import value_layer_fused

    aspects, layer = case(3, size, device)
    expected = value_layer_reference(aspects, layer, HEADS)
    for gradients in (True, False):
        with torch.set_grad_enabled(gradients):
            actual = value_layer_fused(aspects.to(dtype), layer, HEADS, "ieee")
        assert actual.dtype == torch.float32
        if size > 1:  # the mean over one position of what has mean zero is all rounding
            assert distance(actual, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("size", [5, 16, 17, 33, 65])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("magnitude", [1.0, 1e-7])
@pytest.mark.usefixtures("poisoned")
def test_gradients(size: int, dtype: torch.dtype, magnitude: float, device: str) -> None:
    """Every weight gets the reference's gradient, also from gradients that float16 could not hold."""
    from dact.kernels.value_layer.fused import value_layer_fused

    aspects, layer = case(4, size, device)
    incoming = magnitude * torch.randn(4, WIDTH, device=device)
    expected = torch.autograd.grad(value_layer_reference(aspects, layer, HEADS), layer, incoming)
    actual = torch.autograd.grad(value_layer_fused(aspects.to(dtype), layer, HEADS, "ieee"), layer, incoming)
    for name, ours, theirs in zip(ValueLayer._fields, actual, expected, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == torch.float32
        assert distance(ours, theirs) < 3 * TOLERANCE[dtype], name


@pytest.mark.usefixtures("poisoned")
def test_long_tours(device: str) -> None:
    """Tours of more than 128 positions, whose queries are taken in several pieces."""
    from dact.kernels.value_layer.fused import value_layer_fused

    aspects, layer = case(1, 130, device)
    incoming = torch.randn(1, WIDTH, device=device)
    expected = torch.autograd.grad(value_layer_reference(aspects, layer, HEADS), layer, incoming)
    actual = torch.autograd.grad(value_layer_fused(aspects, layer, HEADS, "ieee"), layer, incoming)
    assert all(distance(*pair) < 2e-5 for pair in zip(actual, expected, strict=True))


@pytest.mark.usefixtures("poisoned")
def test_no_gradient_gives_none(device: str) -> None:
    """Incoming gradients that are all zero give zeros, not zero over zero."""
    from dact.kernels.value_layer.fused import value_layer_fused

    aspects, layer = case(2, 5, device)
    grads = torch.autograd.grad(
        value_layer_fused(aspects, layer, HEADS, "ieee"), layer, torch.zeros(2, WIDTH, device=device)
    )
    assert all(not grad.any() for grad in grads)


def test_weight_gradients_are_cut_by_the_rows() -> None:
    """Parts divide the rows; there are about 64, and more where a part would grow too long."""
    from dact.kernels.value_layer.fused import _parts

    assert [_parts(*case) for case in ((2400, 20), (2400, 100), (1024, 100), (7, 20), (8192, 100))] == [
        60,
        60,
        64,
        7,
        128,
    ]


def test_what_does_not_fit_takes_the_reference() -> None:
    """Long tours, odd widths and float64 are computed all the same."""
    from dact.kernels.value_layer.fused import fits

    aspects, layer = case(1, 256, "cpu")
    assert fits(aspects, layer, HEADS)
    assert not fits(torch.zeros(2, 1, 257, 16), layer, HEADS)
    assert not fits(aspects.double(), layer, HEADS)
    assert not fits(aspects[:1], layer, HEADS)
    assert value_layer(aspects.half(), layer, HEADS).shape == (1, WIDTH)

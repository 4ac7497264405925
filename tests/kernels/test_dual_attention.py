"""The dual-attention kernels against plain PyTorch, outputs and gradients."""

import pytest
import torch
from comparing import distance
from torch import Tensor

from dact.kernels.dual_attention import dual_attention, dual_attention_reference

pytest.importorskip("triton")
TOLERANCE = {torch.float32: 2e-6, torch.float16: 3e-3}


def packed(rows: int, size: int, device: str) -> Tensor:
    """Projections of two aspects with four heads of 16."""
    torch.manual_seed(size)
    return torch.randn(2, rows, size, 256, device=device)


@pytest.mark.parametrize("size", [1, 5, 16, 17, 31, 33])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_forward(size: int, dtype: torch.dtype, device: str) -> None:
    """The kernel sees what the reference sees, and writes every number."""
    from dact.kernels.dual_attention.triton_impl import forward

    values = packed(2, size, device)
    assert distance(forward(values, 4, dtype, "ieee"), dual_attention_reference(values, 4)) < TOLERANCE[dtype]


@pytest.mark.parametrize("size", [5, 16, 17, 33])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_gradients(size: int, dtype: torch.dtype, device: str) -> None:
    """The gradient of every query, key, value and referential value is the reference's."""
    from dact.kernels.dual_attention.triton_impl import dual_attention_triton

    values = packed(2, size, device).requires_grad_()
    incoming = torch.randn(2, 2, size, 128, device=device)
    (expected,) = torch.autograd.grad(dual_attention_reference(values, 4), values, incoming)
    (actual,) = torch.autograd.grad(dual_attention_triton(values, 4, dtype, "ieee"), values, incoming)
    for part, (ours, theirs) in enumerate(zip(actual.chunk(4, 3), expected.chunk(4, 3), strict=True)):
        assert distance(ours, theirs) < 2 * TOLERANCE[dtype], part


def test_long_tours_and_float64_take_the_reference() -> None:
    """What the kernel has no room for is computed all the same."""
    from dact.kernels.dual_attention.triton_impl import fits

    assert fits(packed(1, 128, "cpu"), 4)
    assert not fits(packed(1, 129, "cpu"), 4)
    assert not fits(packed(1, 8, "cpu").double(), 4)
    assert not fits(packed(1, 8, "cpu")[:1], 4)
    assert dual_attention(packed(1, 129, "cpu"), 4).shape == (2, 1, 129, 128)

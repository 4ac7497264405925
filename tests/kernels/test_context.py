"""The decoder's context kernel against plain PyTorch."""

import pytest
import torch
from comparing import distance

from dact.kernels.context import context_reference

pytest.importorskip("triton")
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3}


@pytest.mark.parametrize(
    ("size", "rows"),
    [(5, 3), (16, 5), (17, 3), (31, 2), (33, 2), (63, 1), (64, 1), (65, 1), (70, 4), (127, 1), (130, 2), (255, 1)],
)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_context(size: int, rows: int, dtype: torch.dtype, device: str) -> None:
    """Contexts and queries are the reference's; maxima below zero show that padding is not pooled."""
    from dact.kernels.context.triton_impl import context_triton

    torch.manual_seed(size)
    x = torch.randn(2, rows, size, 64, device=device) - 4
    matrices = [torch.randn(2, 64, width, device=device) / 8 for width in (64, 64, 256)]
    expected = context_reference(x, *matrices)
    actual = context_triton(x.to(dtype), *(matrix.to(dtype) for matrix in matrices), precision="tf32x3")
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.dtype == dtype
        assert distance(ours, theirs) < TOLERANCE[dtype]


def test_widths_without_a_kernel_are_refused(device: str) -> None:
    """Widths that are no power of two raise an error that names them."""
    from dact.kernels.context.triton_impl import context_triton

    matrix = torch.zeros(2, 48, 48, device=device)
    with pytest.raises(ValueError, match="positions of 48"):
        context_triton(torch.zeros(2, 1, 5, 48, device=device), matrix, matrix, matrix)

"""The skip-and-norm kernels against plain PyTorch, outputs and gradients."""

import pytest
import torch

from dact.kernels.add_norm import add_norm, add_norm_reference

pytest.importorskip("triton")
SIZES = [1, 5, 16, 17, 33]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("poisoned")
def test_forward(size: int, device: str) -> None:
    """The kernel's numbers are the reference's, every one written, for rows far from zero as well."""
    from dact.kernels.add_norm.triton_impl import add_norm_triton

    torch.manual_seed(size)
    x, y = torch.randn(2, 3, size, 64, device=device) + 5, torch.randn(2, 3, size, 64, device=device)
    torch.testing.assert_close(add_norm_triton(x, y), add_norm_reference(x, y), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("poisoned")
def test_gradients(size: int, device: str) -> None:
    """Both inputs get the reference's gradient."""
    from dact.kernels.add_norm.triton_impl import add_norm_triton

    torch.manual_seed(size)
    x, y = (torch.randn(2, 3, size, 64, device=device, requires_grad=True) for _ in range(2))
    incoming = torch.randn(2, 3, size, 64, device=device)
    expected = torch.autograd.grad(add_norm_reference(x, y), (x, y), incoming)
    actual = torch.autograd.grad(add_norm_triton(x, y), (x, y), incoming)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-4)


def test_rows_that_do_not_fit_take_the_reference() -> None:
    """A tour of 300 positions is normed all the same."""
    from dact.kernels.add_norm.triton_impl import fits

    x = torch.randn(2, 1, 300, 64)
    assert not fits(x, x)
    assert abs(float(add_norm(x, x).mean())) < 1e-6

"""The pair-logits kernels against plain PyTorch, outputs and gradients."""

import pytest
import torch
from comparing import distance
from torch import Tensor

from dact.kernels.pair_logits import Aggregation, pair_logits, pair_logits_blocked, pair_logits_reference

pytest.importorskip("triton")
SIZES = (5, 16, 17, 31, 33)
TOLERANCE = {torch.float32: 2e-6, torch.float16: 3e-3}
# Half precision moves some hidden units across the kink of their relu, and their gradient with them.
GRADIENT_TOLERANCE = {torch.float32: 1e-5, torch.float16: 6e-2}


def inputs(rows: int, size: int, device: str, heads: int = 8, width: int = 64) -> tuple[Tensor, Tensor, Aggregation]:
    """Random queries, keys and network, of magnitudes as in a trained policy."""
    torch.manual_seed(size)
    query = torch.randn(rows, heads, size, width, device=device) / width**0.5
    key = torch.randn(rows, heads, size, width, device=device)
    shapes = ((32, heads), (32,), (32, 32), (32,), (1, 32), (1,))
    network = Aggregation(*(torch.randn(shape, device=device) * shape[-1] ** -0.5 for shape in shapes))
    return query, key, network


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_forward(size: int, dtype: torch.dtype, device: str) -> None:
    """The kernel's logits are the reference's, every one of them written."""
    from dact.kernels.pair_logits.triton_impl import forward

    query, key, network = inputs(2, size, device)
    expected = pair_logits_reference(query, key, network)
    assert distance(forward(query, key, network, dtype, "ieee"), expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("size", [5, 17, 31])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_gradients(size: int, dtype: torch.dtype, device: str) -> None:
    """Every gradient is the reference's, also when the incoming one is too small for half precision."""
    from dact.kernels.pair_logits.triton_impl import pair_logits_triton

    query, key, network = inputs(2, size, device)
    leaves = [x.requires_grad_() for x in (query, key, *network)]
    incoming = torch.randn(2, size, size, device=device) * 1e-7
    expected = torch.autograd.grad(pair_logits_reference(query, key, network), leaves, incoming)
    logits = pair_logits_triton(query, key, network, dtype, "ieee")
    actual = torch.autograd.grad(logits, leaves, incoming)
    for name, ours, theirs in zip(("query", "key", *network._fields), actual, expected, strict=True):
        assert distance(ours, theirs) < GRADIENT_TOLERANCE[dtype], name


def test_gradients_add_up_over_programs(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer programs than tiles, each adds up several and none is lost."""
    from dact.kernels.pair_logits import triton_impl

    query, key, network = inputs(3, 17, device)
    incoming = torch.randn(3, 17, 17, device=device)
    many = triton_impl.backward(incoming, query, key, network, torch.float32, "ieee")
    monkeypatch.setattr(triton_impl, "PROGRAMS", 5)
    few = triton_impl.backward(incoming, query, key, network, torch.float32, "ieee")
    assert all(distance(a, b) < 1e-6 for a, b in zip(few, many, strict=True))


def test_mixed_inputs(device: str) -> None:
    """Half-precision queries with float32 weights, as autocast makes them, keep their own gradient dtypes."""
    from dact.kernels.pair_logits.triton_impl import pair_logits_triton

    query, key, network = inputs(1, 17, device)
    leaves = [query.half().requires_grad_(), key.half().requires_grad_(), *(x.requires_grad_() for x in network)]
    logits = pair_logits_triton(leaves[0], leaves[1], network)
    assert logits.dtype == torch.float32
    grads = torch.autograd.grad(logits.sum(), leaves)
    assert [grad.dtype for grad in grads] == [leaf.dtype for leaf in leaves]


def test_other_head_counts(device: str) -> None:
    """Fewer heads are cut into more slots."""
    from dact.kernels.pair_logits.triton_impl import forward

    query, key, network = inputs(1, 17, device, heads=4)
    expected = pair_logits_reference(query, key, network)
    assert distance(forward(query, key, network, torch.float32, "ieee"), expected) < 2e-6


def test_sizes_without_a_kernel_are_refused(device: str) -> None:
    """Slots too narrow for a matrix product raise an error that names the sizes."""
    from dact.kernels.pair_logits.triton_impl import fits, forward

    query, key, network = inputs(1, 5, device, heads=4, width=32)
    assert not fits(4, 32, 32)
    with pytest.raises(ValueError, match="4 heads of 32"):
        forward(query, key, network, torch.float32, "ieee")


@pytest.mark.parametrize("size", [5, 33, 70])
def test_blocked(size: int) -> None:
    """The form for CPUs gives the reference's logits."""
    query, key, network = inputs(2, size, "cpu")
    expected = pair_logits_reference(query, key, network)
    assert distance(pair_logits_blocked(query, key, network), expected) < 2e-6
    with torch.no_grad():
        assert distance(pair_logits(query, key, network), expected) < 2e-6

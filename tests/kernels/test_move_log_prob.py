"""Log-probability and entropy of moves: the kernels against plain PyTorch in float64, values and gradients."""

from typing import Any

import pytest
import torch
from comparing import distance
from torch import Tensor

from dact.kernels.move_log_prob import Aggregation, move_log_prob, move_log_prob_reference
from dact.kernels.pair_logits import pair_logits_reference
from dact.policy import PairDistribution

pytest.importorskip("triton")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="the interpreter has one order of programs")
CLIP = 6.0
SIZES = (5, 16, 17, 31, 33, 50, 70)
VALUE_TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-2}
# Half precision moves some hidden units across the kink of their relu, and their gradient with them.
GRADIENT_TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-2}
NAMES = ("query", "key", *Aggregation._fields)


def operands(rows: int, size: int, device: str, shared: bool = True) -> list[Tensor]:
    """Queries of two aspects with four heads, keys of each head or shared ones, and the network's six tensors."""
    torch.manual_seed(size)
    query = torch.randn(2, rows, size, 256, device=device) / 8
    key = torch.randn(2, rows, size, 64 if shared else 256, device=device)
    shapes = ((32, 8), (32,), (32, 32), (32,), (1, 32), (1,))
    return [query, key, *(torch.randn(shape, device=device) * shape[-1] ** -0.5 for shape in shapes)]


def moves(rows: int, size: int, device: str) -> dict[str, Any]:
    """Open pairs and chosen ones: a single pair in the first row, all but the diagonal in the second, else random."""
    torch.manual_seed(size + 1)
    open_BNN = torch.rand(rows, size, size, device=device) < 0.6
    open_BNN[0] = False
    open_BNN[0, size - 1, 1] = True
    open_BNN[1] = ~torch.eye(size, dtype=torch.bool, device=device)
    open_BNN[2:, 0, size - 1] = True
    move_B2 = torch.tensor([[size - 1, 1], [2, 3], *[[0, size - 1]] * (rows - 2)], device=device)
    return {"clip": CLIP, "open_BNN": open_BNN, "move_B2": move_B2}


def leaves(tensors: list[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """Copies that take gradients."""
    return [x.detach().to(dtype).requires_grad_() for x in tensors]


def truth(tensors: list[Tensor], pairs: dict[str, Any], incoming: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Values and gradients of the reference in float64, of the log-probability and perhaps of the entropy."""
    query, key, *network = own = leaves(tensors, torch.float64)
    values = move_log_prob_reference(query, key, Aggregation(*network), **pairs)
    weighted = [grad.double() for grad in incoming]
    return [x.detach() for x in values], list(torch.autograd.grad(values[: len(weighted)], own, weighted))


def kernels(
    tensors: list[Tensor], pairs: dict[str, Any], incoming: list[Tensor], dtype: torch.dtype, **settings: Any
) -> tuple[list[Tensor], list[Tensor]]:
    """The same by the kernels, on float32 tensors."""
    from dact.kernels.move_log_prob.triton_impl import move_log_prob_triton

    query, key, *network = own = leaves(tensors, torch.float32)
    settings = {"dtype": dtype, "precision": "ieee"} | settings
    values = move_log_prob_triton(query, key, Aggregation(*network), **pairs, **settings)
    return [x.detach() for x in values], list(torch.autograd.grad(values[: len(incoming)], own, incoming))


def check(actual: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    """Every gradient is near its truth."""
    for name, ours, theirs in zip(NAMES, actual, expected, strict=True):
        assert distance(ours, theirs) < tolerance, name


@pytest.mark.parametrize("size", [5, 33])
def test_the_reference_is_what_training_computes(size: int) -> None:
    """Log-probability and entropy are those of PairDistribution."""
    query, key, *network = operands(3, size, "cpu", shared=False)
    pairs = moves(3, size, "cpu")
    actual = move_log_prob(query, key, Aggregation(*network), **pairs)
    split = (x.view(2, 3, size, 4, 64).permute(1, 0, 3, 2, 4).flatten(1, 2) for x in (query, key))
    logits = CLIP * torch.tanh(pair_logits_reference(*split, Aggregation(*network)))
    expected = PairDistribution(logits, pairs["open_BNN"])
    torch.testing.assert_close(actual[0], expected.log_prob(pairs["move_B2"]))
    torch.testing.assert_close(actual[1], expected.entropy())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", VALUE_TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_values_and_gradients(size: int, dtype: torch.dtype, device: str) -> None:
    """Values and gradients are the reference's, also for incoming gradients too small for half precision."""
    rows = 2 if size > 33 else 3
    tensors, pairs = operands(rows, size, device), moves(rows, size, device)
    incoming = [torch.randn(rows, device=device) * 1e-7]
    values, expected = truth(tensors, pairs, incoming)
    ours, actual = kernels(tensors, pairs, incoming, dtype)
    for mine, theirs in zip(ours, values, strict=True):
        assert mine.dtype == torch.float32
        assert float((mine - theirs).abs().max()) < VALUE_TOLERANCE[dtype]
    check(actual, expected, GRADIENT_TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", VALUE_TOLERANCE)
@pytest.mark.usefixtures("poisoned")
def test_the_entropy_has_a_gradient(dtype: torch.dtype, device: str) -> None:
    """Both gradients arrive together."""
    tensors, pairs = operands(3, 17, device), moves(3, 17, device)
    incoming = [torch.randn(3, device=device), torch.randn(3, device=device)]
    _, expected = truth(tensors, pairs, incoming)
    check(kernels(tensors, pairs, incoming, dtype)[1], expected, GRADIENT_TOLERANCE[dtype])


@pytest.mark.usefixtures("poisoned")
def test_keys_of_every_head(device: str) -> None:
    """Keys may be as wide as queries."""
    tensors, pairs = operands(3, 17, device, shared=False), moves(3, 17, device)
    incoming = [torch.randn(3, device=device)]
    _, expected = truth(tensors, pairs, incoming)
    check(kernels(tensors, pairs, incoming, torch.float32)[1], expected, GRADIENT_TOLERANCE[torch.float32])


@pytest.mark.parametrize("dtype", VALUE_TOLERANCE)
def test_rows_without_a_gradient(dtype: torch.dtype, device: str) -> None:
    """A row whose incoming gradient is zero leaves no trace; nor do all rows together."""
    tensors, pairs = operands(3, 17, device), moves(3, 17, device)
    incoming = torch.tensor([1.0, 0.0, -2.0], device=device)
    gradients = kernels(tensors, pairs, [incoming], dtype)[1]
    assert not gradients[0][:, 1].any()
    assert not gradients[1][:, 1].any()
    check(gradients, truth(tensors, pairs, [incoming])[1], GRADIENT_TOLERANCE[dtype])
    assert not any(each.any() for each in kernels(tensors, pairs, [incoming * 0], dtype)[1])


def test_rows_without_an_open_pair(device: str) -> None:
    """They count as uniform, as in the reference, and pass on no gradient."""
    tensors, pairs = operands(3, 5, device), moves(3, 5, device)
    pairs["open_BNN"][2] = False
    incoming = [torch.ones(3, device=device)]
    values, expected = truth(tensors, pairs, incoming)
    ours, actual = kernels(tensors, pairs, incoming, torch.float32)
    assert all(distance(mine, theirs) < 1e-5 for mine, theirs in zip(ours, values, strict=True))
    check(actual, expected, GRADIENT_TOLERANCE[torch.float32])


@pytest.mark.parametrize("launch", [{"residents": 2}, {"second": 16}, {"forward_second": 16, "operand_first": 16}])
def test_other_launches(launch: dict[str, int], device: str) -> None:
    """Fewer programs and other tiles add up to the same gradients."""
    from dact.kernels.move_log_prob.pairs import Launch

    tensors, pairs = operands(3, 33, device), moves(3, 33, device)
    incoming = [torch.randn(3, device=device)]
    _, expected = truth(tensors, pairs, incoming)
    gradients = kernels(tensors, pairs, incoming, torch.float32, launch=Launch(**launch))[1]
    check(gradients, expected, GRADIENT_TOLERANCE[torch.float32])


@needs_gpu
def test_the_same_twice(device: str) -> None:
    """Sums have a fixed order, so a second call gives the same bits."""
    tensors, pairs = operands(3, 33, device), moves(3, 33, device)
    incoming = [torch.randn(3, device=device)]
    once, again = (kernels(tensors, pairs, incoming, torch.float16) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(once[0] + once[1], again[0] + again[1], strict=True))


def test_mixed_inputs(device: str) -> None:
    """Half-precision queries with float32 weights: gradients have the dtypes of what they belong to."""
    from dact.kernels.move_log_prob.triton_impl import move_log_prob_triton

    query, key, *network = operands(3, 17, device)
    own = [*leaves([query, key], torch.float16), *leaves(network, torch.float32)]
    log_prob, entropy = move_log_prob_triton(own[0], own[1], Aggregation(*own[2:]), **moves(3, 17, device))
    assert log_prob.dtype == entropy.dtype == torch.float32
    grads = torch.autograd.grad(log_prob.sum(), own)
    assert [grad.dtype for grad in grads] == [leaf.dtype for leaf in own]


def test_sizes_without_a_kernel_are_refused(device: str) -> None:
    """Slots too narrow for a matrix product raise an error that names the sizes."""
    from dact.kernels.move_log_prob.triton_impl import move_log_prob_triton

    query, key, *network = operands(3, 5, device)
    with pytest.raises(ValueError, match="8 heads in queries of"):
        move_log_prob_triton(query[..., :64], key[..., :16], Aggregation(*network), **moves(3, 5, device))

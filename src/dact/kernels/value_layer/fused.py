"""The critic's layer on the GPU: few kernels, aligned products, gradients for the weights alone.

Heads of 21 numbers are padded with zeros to 24 columns, so that every product is aligned for tensor cores. Products
take the aspects' precision and add up in float32. In float16 small gradients would underflow: gradients are divided
by the largest incoming one, and the weights' gradients are rescaled at the end.
"""

# mypy: allow-untyped-decorators, allow-untyped-calls
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dact.kernels.launch import float32_precision
from dact.kernels.value_layer.reference import ValueLayer
from dact.kernels.value_layer.triton_impl import attend, attend_grad, norm, norm_grad, relu_grad_

LONGEST = 256
ALIGNED = 8
"""Columns a head's width is rounded up to a multiple of."""
MOST_PARTS, LARGEST_PART = 64, 4096


class Kept(NamedTuple):
    """What the backward pass needs of the forward pass."""

    x_BNW: Tensor
    packed_BNE: Tensor
    seen_BNE: Tensor
    y_BNW: Tensor
    y_rate_B: Tensor
    hidden_BNW: Tensor
    z_BNW: Tensor
    z_rate_B: Tensor


def fits(aspects_SBND: Tensor, layer: ValueLayer, heads: int) -> bool:
    """Short tours, widths that are powers of two, heads of at least 9 numbers."""
    aspects, _, size, dim = aspects_SBND.shape
    width = aspects * dim
    powers = width & (width - 1) == 0 and 16 <= width <= 128 and layer.into.shape[0] == width
    return powers and size <= LONGEST and width // heads > ALIGNED and aspects_SBND.dtype != torch.float64


def value_layer_fused(aspects_SBND: Tensor, layer: ValueLayer, heads: int, precision: str | None = None) -> Tensor:
    """(B, W) in float32, with gradients for the weights."""
    precision = precision or float32_precision()
    if torch.is_grad_enabled():
        mean_BW: Tensor = _ValueLayer.apply(aspects_SBND, heads, precision, *layer)
        return mean_BW
    return _forward(aspects_SBND, prepared(layer, heads, aspects_SBND.dtype), heads, precision, keep=False)[0]


def prepared(layer: ValueLayer, heads: int, dtype: torch.dtype) -> ValueLayer:
    """The weights in the dtype of the products, heads padded."""
    width = layer.out.shape[1] // heads
    stride = -(-width // ALIGNED) * ALIGNED
    packed = layer.packed.new_zeros(3 * heads, stride, layer.packed.shape[1], dtype=dtype)
    packed[:, :width] = layer.packed.view(3 * heads, width, -1)
    out = layer.out.new_zeros(len(layer.out), heads, stride, dtype=dtype)
    out[:, :, :width] = layer.out.view(-1, heads, width)
    rest = [torch.empty_like(x, dtype=dtype) for x in layer[2:]]
    torch._foreach_copy_(rest, list(layer[2:]))
    return ValueLayer(packed.flatten(0, 1), out.flatten(1), *rest)


def _forward(aspects_SBND: Tensor, layer: ValueLayer, heads: int, precision: str, *, keep: bool) -> tuple[Tensor, Kept]:
    rows, size = aspects_SBND.shape[1:3]
    # One copy: two products by aspect would read and write the wide result once more.
    x_BNW = aspects_SBND.permute(1, 2, 0, 3).flatten(2)
    packed_BNE = _times(x_BNW, layer.packed.t())
    seen_BNE = attend(packed_BNE, heads, _head_width(x_BNW, heads), precision)
    y_BNW, y_rate_B, _ = norm(x_BNW, _times(seen_BNE, layer.out.t()), pool=False)
    hidden_MW = torch._addmm_activation(layer.into_bias, y_BNW.flatten(0, 1), layer.into.t())
    onward_MW = torch.addmm(layer.onward_bias, hidden_MW, layer.onward.t())
    z_BNW, z_rate_B, mean_BW = norm(y_BNW, onward_MW.view(rows, size, -1), pool=True, keep=keep)
    hidden_BNW = hidden_MW.view(rows, size, -1)
    return mean_BW, Kept(x_BNW, packed_BNE, seen_BNE, y_BNW, y_rate_B, hidden_BNW, z_BNW, z_rate_B)


class _ValueLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, aspects: Tensor, heads: int, precision: str, *weights: Tensor) -> Tensor:  # noqa: ANN401
        layer = prepared(ValueLayer(*weights), heads, aspects.dtype)
        mean, kept = _forward(aspects, layer, heads, precision, keep=True)
        ctx.save_for_backward(*kept, *layer)
        ctx.settings = (heads, precision)
        return mean

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # noqa: ANN401
        heads, precision = ctx.settings
        saved = ctx.saved_tensors
        border = len(Kept._fields)
        kept, layer = Kept(*saved[:border]), ValueLayer(*saved[border:])
        return None, None, None, *_backward(grad.contiguous(), kept, layer, heads, precision)


def _backward(mean_grad_BW: Tensor, kept: Kept, layer: ValueLayer, heads: int, precision: str) -> list[Tensor]:
    """The gradients of the weights, in float32 and without padding."""
    rows, size, width = kept.x_BNW.shape
    top = torch.linalg.vector_norm(mean_grad_BW, ord=torch.inf)
    bias_B2W = torch.empty(rows, 2 * width, device=mean_grad_BW.device)
    z_grad = norm_grad(mean_grad_BW, kept.z_BNW, kept.z_rate_B, top, bias_B2W, pool=True)
    hidden_grad = _times(z_grad, layer.onward)
    relu_grad_(hidden_grad, kept.hidden_BNW, bias_B2W)
    y_grad = torch.addmm(z_grad.flatten(0, 1), hidden_grad.flatten(0, 1), layer.into).view_as(z_grad)
    y_grad = norm_grad(y_grad, kept.y_BNW, kept.y_rate_B, top, bias_B2W, pool=False)
    seen_grad = _times(y_grad, layer.out)
    packed_grad = attend_grad(seen_grad, kept.packed_BNE, heads, _head_width(kept.x_BNW, heads), precision)
    pairs = (
        (packed_grad, kept.x_BNW),
        (y_grad, kept.seen_BNE),
        (hidden_grad, kept.y_BNW),
        (z_grad, kept.hidden_BNW),
    )
    bias_2W = bias_B2W.sum(0)
    packed, out, into, onward = _weight_grads(pairs, bias_2W, top / size)
    onward_bias, into_bias = bias_2W.chunk(2)
    head = _head_width(kept.x_BNW, heads)
    packed = packed.view(3 * heads, -1, width)[:, :head].reshape(-1, width)
    out = out.view(width, heads, -1)[:, :, :head].reshape(width, -1)
    return [packed, out, into, into_bias, onward, onward_bias]


def _weight_grads(pairs: Sequence[tuple[Tensor, Tensor]], bias_2W: Tensor, scale: Tensor) -> list[Tensor]:
    """For each (gradient of the results, inputs) the gradient of the matrix between; these and the biases' scaled.

    Each is a product of a wide and a tall matrix, which would occupy few multiprocessors: it is cut into parts that
    are added up, for all matrices at once.
    """
    parts = _parts(*pairs[0][0].shape[:2])
    shapes = [(grad.shape[2], inputs.shape[2]) for grad, inputs in pairs]
    sizes = [columns * width for columns, width in shapes]
    part_PX = torch.empty(parts, sum(sizes), device=scale.device, dtype=pairs[0][0].dtype)
    for (grad, inputs), shape, part in zip(pairs, shapes, part_PX.split(sizes, 1), strict=True):
        grad_PME, input_PMW = (x.view(parts, -1, x.shape[2]) for x in (grad, inputs))
        torch.bmm(grad_PME.transpose(1, 2), input_PMW, out=part.unflatten(1, shape))
    sum_X = part_PX.sum(0, dtype=torch.float32)
    torch._foreach_mul_([sum_X, bias_2W], scale)
    return [x.view(shape) for x, shape in zip(sum_X.split(sizes), shapes, strict=True)]


def _parts(rows: int, size: int) -> int:
    """A divisor of the rows: 64 or a little fewer, more for batches so large that float16 could overflow."""
    most = max(MOST_PARTS, rows * size // LARGEST_PART)
    return next(parts for parts in range(min(most, rows), 0, -1) if rows % parts == 0)


def _times(x_BNE: Tensor, weight: Tensor) -> Tensor:
    return (x_BNE.flatten(0, 1) @ weight).view(*x_BNE.shape[:2], -1)


def _head_width(x_BNW: Tensor, heads: int) -> int:
    return x_BNW.shape[2] // heads

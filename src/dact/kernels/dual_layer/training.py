"""A whole encoder with gradients: embedding and layers as one function, so that gradients stay scaled between layers.

Weights stay float32 and get float32 gradients; activations and gradients are kept and multiplied in half precision.
"""

# mypy: allow-untyped-decorators, allow-untyped-calls
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dact.kernels.dual_layer.backward import TOP, backward, make_parts
from dact.kernels.dual_layer.forward import Kept, LayerWeights, embedded, forward, pack_once
from dact.kernels.dual_layer.projection import embed_gradient, project_gradient
from dact.kernels.dual_layer.reference import DualLayer
from dact.kernels.dual_layer.triton_impl import PackedLayer, dual_layer_triton
from dact.kernels.launch import float32_precision

FIELDS = len(DualLayer._fields)


class Settings(NamedTuple):
    """How to compute."""

    heads: int
    dtype: torch.dtype
    """Of matrix products, and of what is kept between kernels."""
    precision: str
    """Of products in float32."""
    result: torch.dtype


class _Encode(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        settings: Settings,
        features_BNF: Tensor,
        place_ND: Tensor,
        embed_DF: Tensor,
        *weights: Tensor,
    ) -> Tensor:
        layers = [DualLayer(*weights[start : start + FIELDS]) for start in range(0, len(weights), FIELDS)]
        x_SBND = embedded(features_BNF, place_ND, embed_DF, settings.dtype)
        saved: list[Tensor] = [features_BNF]
        for place, layer in enumerate(layers):
            packed = pack_once(layer, settings.heads, settings.dtype)
            result = settings.result if place == len(layers) - 1 else settings.dtype
            kept = forward(x_SBND, packed.packed, settings.precision, result)
            saved += [*kept, *packed.packed, packed.back_SED]
            x_SBND = kept.result_SBND
        ctx.settings, ctx.shapes = settings, [x.shape for x in weights[:FIELDS]]
        ctx.save_for_backward(*saved)
        return x_SBND

    @staticmethod
    def backward(ctx: Any, grad_SBND: Tensor) -> Any:  # noqa: ANN401
        features_BNF, *saved = ctx.saved_tensors
        layers, precision = _layers(saved), ctx.settings.precision
        part_LTX = make_parts(len(layers), len(features_BNF), layers[0][1])
        largest = torch.linalg.vector_norm(grad_SBND, torch.inf, dtype=torch.float32)
        grad_SBND, scaling = grad_SBND.contiguous(), largest
        for place in range(len(layers) - 1, -1, -1):
            kept, weights = layers[place]
            grad_SBND, packed_grad = backward(grad_SBND, scaling, kept, weights, part_LTX[place], precision)
            project_gradient(kept, grad_SBND, packed_grad, weights, part_LTX[place], precision, onward=place > 0)
            scaling = None
        unscale = largest / TOP
        embed_DF = embed_gradient(grad_SBND, packed_grad, weights, features_BNF, precision) * unscale
        return None, None, None, embed_DF, *_split(part_LTX.sum(1) * unscale, ctx.shapes)


def _layers(saved: list[Tensor]) -> list[tuple[Kept, LayerWeights]]:
    """What was saved, layer by layer."""
    border, packed = len(Kept._fields), len(PackedLayer._fields)
    each = border + packed + 1
    rows = [saved[start : start + each] for start in range(0, len(saved), each)]
    return [(Kept(*row[:border]), LayerWeights(PackedLayer(*row[border:-1]), row[-1])) for row in rows]


def _split(weights_LX: Tensor, shapes: list[torch.Size]) -> list[Tensor]:
    """All layers' weights one by one."""
    sizes = [shape.numel() for shape in shapes]
    return [x.view(shape) for row in weights_LX for x, shape in zip(row.split(sizes), shapes, strict=True)]


def encode_triton(
    features_BNF: Tensor,
    place_ND: Tensor,
    embed_DF: Tensor,
    layers: Sequence[DualLayer],
    heads: int,
    dtype: torch.dtype,
    *,
    result: torch.dtype = torch.float32,
    precision: str | None = None,
) -> Tensor:
    """(2, B, N, D) aspects in the dtype `result`, with gradients for `embed_DF` and the layers' weights.

    The gradient that comes in has the dtype of the result; float32 does not lose the small ones.
    """
    settings = Settings(heads, dtype, precision or float32_precision(), result)
    weights = [weight for layer in layers for weight in layer]
    aspects_SBND: Tensor = _Encode.apply(settings, features_BNF, place_ND, embed_DF, *weights)
    return aspects_SBND


def encode_without_gradients(
    features_BNF: Tensor,
    place_ND: Tensor,
    embed_DF: Tensor,
    layers: Sequence[DualLayer],
    heads: int,
    dtype: torch.dtype,
    *,
    precision: str | None = None,
) -> Tensor:
    """(2, B, N, D) aspects in `dtype`; nothing is kept for a backward pass."""
    precision = precision or float32_precision()
    first, *others = (pack_once(layer, heads, dtype).packed for layer in layers)
    place_BND, embed_FD = place_ND.expand(len(features_BNF), -1, -1), embed_DF.t().contiguous()
    x_SBND = dual_layer_triton(features_BNF, place_BND, first, precision=precision, embed_FD=embed_FD)
    for packed in others:
        x_SBND = dual_layer_triton(x_SBND[0], x_SBND[1], packed, precision=precision)
    return x_SBND

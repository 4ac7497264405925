"""The first half of the decoder for training: contexts and queries in one pass, and their gradients in few.

On a GPU the forward pass is the kernel of this folder. The backward pass is written out, because PyTorch's own
reads the activations several times more: for the pooling, and to add up what flows back to the same tensor.
Shape letters: S aspects, B rows, N tour length, D width, E = heads * D.
"""

from typing import Any

import torch
from torch import Tensor

from dact.kernels.context.reference import context_reference
from dact.kernels.launch import float32_precision, runs_triton

PARTS = 64
"""Products that a weight's gradient is split into at most: a single product would use few multiprocessors."""


def contexts_and_queries(
    x_SBND: Tensor, local_SDD: Tensor, whole_SDD: Tensor, query_SDE: Tensor
) -> tuple[Tensor, Tensor]:
    """As `context_reference`, with gradients; matrices are rounded to the dtype of `x_SBND`, and keep theirs."""
    matrices = (local_SDD, whole_SDD, query_SDE)
    context_SBND, query_SBNE = _Contexts.apply(x_SBND.contiguous(), *matrices)  # type: ignore[no-untyped-call]
    return context_SBND, query_SBNE


class _Contexts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x_SBND: Tensor, *matrices: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        rounded = [matrix.to(x_SBND.dtype) for matrix in matrices]
        context_SBND, query_SBNE = _forward(x_SBND, *rounded)
        ctx.save_for_backward(x_SBND, context_SBND, *rounded)
        ctx.dtypes = [matrix.dtype for matrix in matrices]
        return context_SBND, query_SBNE

    @staticmethod
    def backward(ctx: Any, context_grad_SBND: Tensor, query_grad_SBNE: Tensor) -> Any:  # noqa: ANN401
        x_SBND, context_SBND, local_SDD, whole_SDD, query_SDE = ctx.saved_tensors
        aspects, rows, _, width = x_SBND.shape
        # What arrives at a context directly and through its query.
        grad_SPD = torch.baddbmm(
            context_grad_SBND.reshape(aspects, -1, width), query_grad_SBNE.flatten(1, 2), query_SDE.mT
        )
        grad_SBND = grad_SPD.view_as(x_SBND)
        pooled_SBD, place_SBD = x_SBND.max(dim=2)
        whole_grad_SBD = grad_SBND.sum(2)
        x_grad_SBND = torch.bmm(grad_SPD, local_SDD.mT).view_as(x_SBND)
        # Each number was pooled from one place, so no two additions meet.
        x_grad_SBND.scatter_add_(2, place_SBD.unsqueeze(2), torch.bmm(whole_grad_SBD, whole_SDD.mT).unsqueeze(2))
        pairs = ((x_SBND, grad_SBND), (pooled_SBD, whole_grad_SBD), (context_SBND, query_grad_SBNE))
        outer = (_outer(left, right, rows) for left, right in pairs)
        return x_grad_SBND, *(grad.to(dtype) for grad, dtype in zip(outer, ctx.dtypes, strict=True))


def _forward(x_SBND: Tensor, local_SDD: Tensor, whole_SDD: Tensor, query_SDE: Tensor) -> tuple[Tensor, Tensor]:
    if runs_triton(x_SBND) and x_SBND.dtype != torch.float64:
        from dact.kernels.context.triton_impl import context_triton, fits

        if fits(x_SBND.shape[3]):
            return context_triton(x_SBND, local_SDD, whole_SDD, query_SDE, precision=float32_precision())
    return context_reference(x_SBND, local_SDD, whole_SDD, query_SDE)


def _outer(left: Tensor, right: Tensor, rows: int) -> Tensor:
    """(S, D, E): the products left^T right over everything between the first and the last dimension."""
    aspects = left.shape[0]
    parts = next(parts for parts in range(PARTS, 0, -1) if rows % parts == 0)
    flat_left, flat_right = (x.reshape(aspects * parts, -1, x.shape[-1]) for x in (left, right))
    product = torch.bmm(flat_left.mT, flat_right).view(aspects, parts, left.shape[-1], right.shape[-1])
    return product.sum(1, dtype=torch.promote_types(product.dtype, torch.float32))

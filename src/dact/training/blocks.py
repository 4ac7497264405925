"""Networks on the rows of a CPU, some at a time, with gradients.

A block's activations stay in the cache of the core that works on it (a third of the time of an update is saved), and
each core has blocks of its own instead of a part of every operation.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dact.threads import share_out

Work = Callable[..., tuple[Tensor, ...]]
"""From tensors to tensors, row by row."""
PAIRS = 40_000
"""Pairs of positions in a block: docs/log.md."""


def in_blocks(work: Work, inputs: Sequence[Tensor], parameters: Sequence[Tensor], length: int) -> tuple[Tensor, ...]:
    """`work` of rows of tours of this length. Gradients reach the parameters, and nothing else."""
    most = max(1, PAIRS // length**2)
    parts = list(zip(*(torch.split(x, most) for x in inputs), strict=True))
    if len(parts) == 1:
        return work(*inputs)
    if not torch.is_grad_enabled():
        return _joined(share_out([_call(work, part, grad=False) for part in parts]))
    outputs: tuple[Tensor, ...] = _Blocks.apply(work, parts, list(parameters), *parameters)  # type: ignore[no-untyped-call]
    return outputs


class _Blocks(torch.autograd.Function):
    """Each block has a graph of its own, so that workers can go through them side by side, forwards and backwards."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        work: Work,
        parts: list[tuple[Tensor, ...]],
        parameters: list[Tensor],
        *_: Tensor,
    ) -> tuple[Tensor, ...]:
        ctx.outputs = share_out([_call(work, part, grad=True) for part in parts])
        ctx.parameters = parameters
        return _joined(ctx.outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        sizes = [len(outputs[0]) for outputs in ctx.outputs]
        parts = zip(*(torch.split(grad, sizes) for grad in grads), strict=True)
        tasks = [_gradient(outputs, ctx.parameters, part) for outputs, part in zip(ctx.outputs, parts, strict=True)]
        ctx.outputs = None
        return (None, None, None, *(sum(each[1:], each[0]) for each in zip(*share_out(tasks), strict=True)))


def _call(work: Work, part: tuple[Tensor, ...], *, grad: bool) -> Callable[[], tuple[Tensor, ...]]:
    def task() -> tuple[Tensor, ...]:
        # Modes belong to a thread.
        with torch.set_grad_enabled(grad):
            return work(*part)

    return task


def _gradient(
    outputs: tuple[Tensor, ...], parameters: list[Tensor], grads: tuple[Tensor, ...]
) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: torch.autograd.grad(outputs, parameters, grads)


def _joined(outputs: list[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    return tuple(torch.cat([x.detach() for x in each]) for each in zip(*outputs, strict=True))

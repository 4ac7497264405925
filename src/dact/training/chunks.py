"""Networks on a CPU, forward and backward, on a chunk of rows at a time.

A chunk's activations fit the cache of the core that works on it, which saves a third of the time of an update. Cores
work on different chunks instead of sharing every operation.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dact.threads import share_out

Work = Callable[..., tuple[Tensor, ...]]
"""A function of tensors that treats rows independently."""
PAIRS = 40_000
"""Pairs of positions in a chunk; measured in docs/log.md."""


def in_chunks(work: Work, inputs: Sequence[Tensor], parameters: Sequence[Tensor], length: int) -> tuple[Tensor, ...]:
    """`work(*inputs)`, for tours of this length. Gradients reach `parameters` only, not `inputs`."""
    most = max(1, PAIRS // length**2)
    parts = list(zip(*(torch.split(x, most) for x in inputs), strict=True))
    if len(parts) == 1:
        return work(*inputs)
    if not torch.is_grad_enabled():
        return _joined(share_out([_call(work, part, grad=False) for part in parts]))
    outputs: tuple[Tensor, ...] = _Chunks.apply(work, parts, list(parameters), *parameters)  # type: ignore[no-untyped-call]
    return outputs


class _Chunks(torch.autograd.Function):
    """Every chunk has its own autograd graph, so that threads can run them in parallel in both directions."""

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
        # Gradient mode is per thread.
        with torch.set_grad_enabled(grad):
            return work(*part)

    return task


def _gradient(
    outputs: tuple[Tensor, ...], parameters: list[Tensor], grads: tuple[Tensor, ...]
) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: torch.autograd.grad(outputs, parameters, grads, materialize_grads=True)


def _joined(outputs: list[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    return tuple(torch.cat([x.detach() for x in each]) for each in zip(*outputs, strict=True))

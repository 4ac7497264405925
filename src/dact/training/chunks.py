"""Networks on a CPU, forward and backward, on a chunk of rows at a time.

A chunk's activations fit the cache of the core that works on it, which saves a third of the time of an update. Cores
work on different chunks instead of sharing every operation. Where the activations of all rows would take gigabytes,
none are kept: the backward pass computes every chunk again.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dact.threads import share_out

Work = Callable[..., tuple[Tensor, ...]]
"""A function of tensors that treats rows independently."""
Outputs = Callable[[], tuple[Tensor, ...]]
"""Gives the outputs of one chunk."""
PAIRS = 40_000
"""Pairs of positions in a chunk; measured in docs/log.md."""
KEPT_BYTES = 1e9
"""Most memory for activations that are kept for the backward pass."""
ROUND = 32
"""Chunks whose gradients, each as large as all weights, are in memory at once."""


def activation_bytes(length: int) -> int:
    """Activations of a row in the paper's networks, fitted to measurements at 20 and 120 positions."""
    return 320 * (length**2 + 90 * length)


def in_chunks(work: Work, inputs: Sequence[Tensor], parameters: Sequence[Tensor], length: int) -> tuple[Tensor, ...]:
    """`work(*inputs)`, for tours of this length. Gradients reach `parameters` only, not `inputs`."""
    most = max(1, PAIRS // length**2)
    parts = list(zip(*(torch.split(x, most) for x in inputs), strict=True))
    if len(parts) == 1:
        return work(*inputs)
    if not torch.is_grad_enabled():
        return _joined(share_out([_call(work, part, grad=False) for part in parts]))
    keep = len(inputs[0]) * activation_bytes(length) <= KEPT_BYTES
    outputs: tuple[Tensor, ...] = _Chunks.apply(work, parts, list(parameters), keep, *parameters)  # type: ignore[no-untyped-call]
    return outputs


class _Chunks(torch.autograd.Function):
    """Every chunk has its own autograd graph, so that threads can run them in parallel in both directions.

    With `keep`, the graphs are kept for the backward pass; without, they are made again there.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        work: Work,
        parts: list[tuple[Tensor, ...]],
        parameters: list[Tensor],
        keep: bool,
        *_: Tensor,
    ) -> tuple[Tensor, ...]:
        outputs = share_out([_call(work, part, grad=keep) for part in parts])
        ctx.calls = [_known(each) for each in outputs] if keep else [_call(work, part, grad=True) for part in parts]
        ctx.sizes, ctx.parameters = [len(part[0]) for part in parts], parameters
        return _joined(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        parts = zip(*(torch.split(grad, ctx.sizes) for grad in grads), strict=True)
        tasks = [_gradient(call, ctx.parameters, part) for call, part in zip(ctx.calls, parts, strict=True)]
        ctx.calls = None
        total = share_out(tasks[:1])
        for first in range(1, len(tasks), ROUND):
            total = [_summed(total + share_out(tasks[first : first + ROUND]))]
        return (None, None, None, None, *total[0])


def _call(work: Work, part: tuple[Tensor, ...], *, grad: bool) -> Outputs:
    def task() -> tuple[Tensor, ...]:
        # Gradient mode is per thread.
        with torch.set_grad_enabled(grad):
            return work(*part)

    return task


def _known(outputs: tuple[Tensor, ...]) -> Outputs:
    return lambda: outputs


def _gradient(call: Outputs, parameters: list[Tensor], grads: tuple[Tensor, ...]) -> Outputs:
    return lambda: torch.autograd.grad(call(), parameters, grads, materialize_grads=True)


def _summed(grads: list[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """Sums over the chunks, in their order."""
    return tuple(sum(each[1:], each[0]) for each in zip(*grads, strict=True))


def _joined(outputs: list[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    return tuple(torch.cat([x.detach() for x in each]) for each in zip(*outputs, strict=True))

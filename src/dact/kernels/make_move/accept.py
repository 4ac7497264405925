"""What becomes of a candidate, inside a kernel: `accepted` of the reference for one row."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201
import triton
import triton.language as tl

from dact.kernels.make_move.reference import LEAST_GAIN

LEAST = tl.constexpr(LEAST_GAIN)


@triton.jit
def accept(node_P, cost, incumbent_P, incumbent_cost, stall, patience):
    """Tour, cost, incumbent, its cost and the stall after the candidate `node_P` of this cost."""
    better = cost < (1 - LEAST) * incumbent_cost
    incumbent_P = tl.where(better, node_P, incumbent_P)
    incumbent_cost = tl.where(better, cost, incumbent_cost)
    stall = tl.where(better, 0, stall + 1)
    tired = stall >= patience
    node_P, cost = tl.where(tired, incumbent_P, node_P), tl.where(tired, incumbent_cost, cost)
    return node_P, cost, incumbent_P, incumbent_cost, tl.where(tired, 0, stall)

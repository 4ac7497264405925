"""Applies a move: the tour after the operator, its cost, the incumbent, and the restart after `patience` steps.

`accepted` is the acceptance rule alone, for searches that make candidates in other ways; `accept` in triton_impl.py
is the same inside a kernel.
"""

from torch import Tensor

from dact.kernels.launch import HAS_TRITON, runs_triton
from dact.kernels.make_move.reference import LEAST_GAIN, accepted, make_move_reference
from dact.kernels.records import Instances, SearchState
from dact.operators import Operator, insert, swap, two_opt

KERNELS: dict[Operator, str] = {two_opt: "two_opt", insert: "insert", swap: "swap"}
"""Operators that the kernel has, and their names there."""


def has_kernel(operator: Operator) -> bool:
    """Can moves of this operator be made by a kernel on a GPU?"""
    return HAS_TRITON and operator in KERNELS


def make_move(
    state: SearchState, move_B2: Tensor, instances: Instances, operator: Operator, patience: int
) -> SearchState:
    """The state after the move of each row, a pair of positions; one kernel on GPUs, else plain PyTorch."""
    if runs_triton(state.tour_BN) and has_kernel(operator):
        from dact.kernels.make_move.triton_impl import make_move_triton

        return make_move_triton(state, move_B2, instances, operator, patience)
    return make_move_reference(state, move_B2, instances, operator, patience)


__all__ = ["KERNELS", "LEAST_GAIN", "accepted", "has_kernel", "make_move", "make_move_reference"]

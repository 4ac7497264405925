"""What a step computes from a tour: node features for the policy, and loads that decide which 2-opt moves are feasible.

A problem names the one of VIEWS that applies to it; features and loads then take one launch.
"""

from torch import Tensor

from dact.kernels.launch import runs_triton
from dact.kernels.pick_move import Feasible
from dact.kernels.records import Instances
from dact.kernels.tour_view.loads import Loads, loads
from dact.kernels.tour_view.reference import CAPACITY, COORDINATES, VIEWS, tour_view_reference


def tour_view(tour_BN: Tensor, instances: Instances, view: str, idle: bool = True) -> tuple[Tensor, Feasible]:
    """features_BNF in tour order and the feasible 2-opt moves, idle ones among them or not.

    One kernel on GPUs, else plain PyTorch.
    """
    if runs_triton(tour_BN):
        from dact.kernels.tour_view.triton_impl import tour_view_triton

        return tour_view_triton(tour_BN, instances, view, idle)
    return tour_view_reference(tour_BN, instances, view, idle)


__all__ = ["CAPACITY", "COORDINATES", "VIEWS", "Loads", "loads", "tour_view", "tour_view_reference"]

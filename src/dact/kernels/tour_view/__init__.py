"""What a step sees of a tour, position by position: the policy's node features, and loads that judge 2-opt moves.

The plain truth is a problem's own `node_features` and `allowed_moves`. A problem that is one of VIEWS says so, and
engines made of kernels then look at its tours in one launch.
"""

from dact.kernels.tour_view.reference import CAPACITY, COORDINATES, VIEWS, Nodes, tour_view_reference

__all__ = ["CAPACITY", "COORDINATES", "VIEWS", "Nodes", "tour_view_reference"]

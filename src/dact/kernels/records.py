"""Instances and search states as kernels see them, one entry per row. `dact.problems.Batch` extends `Instances`.

Shape letters: B rows, N tour length (dummy depots included), I distinct distance matrices.
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Instances:
    """Nodes, lengths and loads.

    Costs are in the instances' own units: by their own distance rule where `distance_INN` is given, else
    `scale_B` times the Euclidean length in the unit square.
    """

    coordinates_BN2: Tensor
    """float32, in the unit square: what the policy sees."""
    scale_B: Tensor
    """float32, original length of one unit."""
    demand_BN: Tensor
    """int32; zero for depots."""
    capacity_B: Tensor
    """int32."""
    depots: int = 0
    """Nodes 0 .. depots - 1 are copies of the depot."""
    distance_INN: Tensor | None = None
    """float32, by the instances' own rule."""
    matrix_B: Tensor | None = None
    """Which matrix a row uses."""

    def distance(self, from_BN: Tensor, to_BN: Tensor) -> Tensor:
        """Length of the edges from -> to, by the instances' rule and in their units."""
        if self.distance_INN is not None and self.matrix_B is not None:
            return self.distance_INN[self.matrix_B.unsqueeze(1), from_BN, to_BN]
        return self.scale_B.unsqueeze(1) * self.plane_distance(from_BN, to_BN)

    def distance_from(self, node_B1: Tensor) -> Tensor:
        """(B, N): length of the edges from a node to every node, as `distance` has it."""
        if self.distance_INN is not None and self.matrix_B is not None:
            return self.distance_INN[self.matrix_B, node_B1.squeeze(1)]
        step_BN2 = self._points(node_B1) - self.coordinates_BN2
        return self.scale_B.unsqueeze(1) * step_BN2.square().sum(2).sqrt()

    def plane_distance(self, from_BN: Tensor, to_BN: Tensor) -> Tensor:
        """Euclidean length of the edges in the unit square."""
        step_BN2 = self._points(from_BN) - self._points(to_BN)
        return step_BN2.square().sum(2).sqrt()

    def cost(self, tour_BN: Tensor) -> Tensor:
        """Length of each cyclic tour."""
        return self.distance(tour_BN, tour_BN.roll(-1, dims=1)).sum(1)

    def _points(self, node_BN: Tensor) -> Tensor:
        return self.coordinates_BN2.gather(1, node_BN.unsqueeze(2).expand(-1, -1, 2))


@dataclass(frozen=True, kw_only=True)
class SearchState:
    """Current tours, the best tours found so far (incumbents), and how long ago those were found."""

    tour_BN: Tensor
    cost_B: Tensor
    incumbent_BN: Tensor
    incumbent_cost_B: Tensor
    stall_B: Tensor
    """Steps since the last new incumbent."""
    last_move_B2: Tensor
    """The *nodes* of the last move, whose positions may have changed since; -1 before the first."""
    stream_B: Tensor
    """State of each row's random stream (`dact.kernels.row_draws`)."""
    recent_BL: Tensor | None = None
    """Fingerprints of the tours of the last steps, the newest last (`dact.kernels.fingerprint`); None: not kept."""

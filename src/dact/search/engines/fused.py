"""The fused engine: a step is a handful of kernels, and a GPU replays many steps without waking the host.

It draws the same random numbers as the plain engine and makes the same moves, up to the rounding of its precision.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from dact.kernels.make_move import OPERATORS as FUSED_OPERATORS
from dact.kernels.make_move import Costs, Search
from dact.kernels.pick_move import Feasible
from dact.kernels.row_draws import row_draws
from dact.kernels.tour_view import Nodes
from dact.operators import OPERATORS
from dact.policy import Policy
from dact.problems import Batch, Problem
from dact.search.engines.base import SearchConfig, Step
from dact.search.engines.fused_policy import PRECISIONS, FusedPolicy, why_not
from dact.search.engines.replay import Replays
from dact.search.state import SearchState


@dataclass
class FusedEngine:
    """Look, pick, move: about eight kernels a step, none of which stores anything of size N x N.

    For CVRP that holds for 2-opt; what insert and swap may do there is a mask of the problem's own.
    """

    problem: Problem
    policy: Policy
    config: SearchConfig
    precision: str = "float16"
    """Of matrix products: `float16`, `bfloat16`, `tf32` or `float32`. Sums, norms, masses and costs are float32."""
    graph_steps: int = 8
    """Steps in one graph; what remains is made one by one."""
    _replays: Replays = field(default_factory=Replays, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision '{self.precision}' is not one of {', '.join(PRECISIONS)}")
        if self.config.operator not in FUSED_OPERATORS:
            raise ValueError(f"operator '{self.config.operator}' has no kernel")
        reason = why_not(self.policy)
        if reason is not None:
            raise ValueError(f"the fused engine cannot use this policy: {reason}")
        self._look = FusedPolicy(self.policy, self.precision, steady=self.config.steady)

    @torch.inference_mode()
    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Compile kernels and capture graphs for a batch of this shape."""
        self._replays.ready(self._steps, batch, state, self.graph_steps).prepare()

    @torch.inference_mode()
    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        return self._replays.ready(self._steps, batch, state, self.graph_steps).run(batch, state, steps)

    @torch.no_grad()
    def step(self, batch: Batch, state: SearchState) -> Step:
        """One step, told in full."""
        search, log_prob_B = _copied(state), torch.zeros(batch.rows, device=batch.device)
        move_B2 = self._move(batch, search, log_prob_B)
        return Step(SearchState(**search._asdict()), move_B2, log_prob_B)

    def refresh(self) -> None:
        """Take over what the policy has learnt."""
        self._look.refresh()

    def _steps(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        search = _copied(state)
        for _ in range(steps):
            self._move(batch, search)
        return SearchState(**search._asdict())

    def _move(self, batch: Batch, search: Search, log_prob_B: Tensor | None = None) -> Tensor:
        """Make a move in each row of the search, which is overwritten; gives the moves."""
        from dact.kernels.make_move.triton_impl import make_move_triton

        move_B2 = self._pick(batch, search, log_prob_B)
        costs = Costs(batch.coordinates_BN2, batch.scale_B, batch.distance_INN, batch.matrix_B)
        make_move_triton(search, move_B2, costs, self.config.operator, self.config.patience)
        return move_B2

    def _pick(self, batch: Batch, search: Search, log_prob_B: Tensor | None) -> Tensor:
        """A move per row."""
        features_BNF, feasible = self._view(batch, search.tour_BN)
        return self._look.pick(
            features_BNF,
            tour_BN=search.tour_BN,
            last_move_B2=search.last_move_B2,
            draw_2B=None if self.config.greedy else row_draws(search.stream_B),
            feasible=feasible,
            log_prob_B=log_prob_B,
        )

    def _view(self, batch: Batch, tour_BN: Tensor) -> tuple[Tensor, Feasible]:
        """Node features and feasible moves: by a kernel where the problem has one for them, else the problem's own."""
        from dact.kernels.tour_view.triton_impl import tour_view_triton

        operator = OPERATORS[self.config.operator]
        if self.problem.view is None:
            features_BNF = self.problem.node_features(batch, tour_BN)
            return features_BNF, self.problem.allowed_moves(batch, tour_BN, operator)
        nodes = Nodes(batch.coordinates_BN2, batch.demand_BN, batch.capacity_B, batch.depots)
        features_BNF, loads = tour_view_triton(tour_BN, nodes, self.problem.view)
        if self.config.operator == "two_opt":
            return features_BNF, loads
        return features_BNF, self.problem.allowed_moves(batch, tour_BN, operator)


def _copied(state: SearchState) -> Search:
    """A search that kernels may overwrite."""
    return Search(*(getattr(state, name).clone() for name in Search._fields))

"""The fused engine: a step is a handful of kernels, and many steps are one CUDA graph.

It draws the same random numbers as the plain engine and makes the same moves, up to the rounding of its precision.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from dact.kernels.launch import HAS_TRITON
from dact.kernels.make_move import has_kernel
from dact.kernels.row_draws import row_draws
from dact.policy import Policy
from dact.problems import Batch, Problem
from dact.search.engines.base import SearchConfig, Step
from dact.search.engines.fused_policy import FusedPolicy
from dact.search.engines.replay import Replay, Replays
from dact.search.searcher import StepByStep
from dact.search.state import SearchState, remembered, remembering, tabu_of
from dact.search.step import look

POSITION_BYTES = 2_000
"""Device memory for each position of each row, to within a factor of two."""


def why_not(policy: Policy, config: SearchConfig) -> str | None:
    """Why there are no kernels for this search; None if there are."""
    if not HAS_TRITON:
        return "Triton is not installed"
    if not has_kernel(config.apply):
        return f"there is no kernel for the operator '{config.operator}'"
    from dact.kernels.pair_logits.triton_impl import fits

    decoder, width = policy.decoder.config, policy.config.encoder_config.dim
    heads = policy.encoder.aspects * decoder.heads
    if not fits(heads, width, decoder.hidden):
        return f"there is no kernel for {heads} heads over {width} numbers with {decoder.hidden} hidden units"
    return None


@dataclass
class FusedEngine(StepByStep):
    """Look, pick, move: about eight kernels a step, none of which stores anything of size N x N.

    For CVRP that holds for 2-opt; for insert and swap the problem gives an N x N mask.
    """

    problem: Problem
    policy: Policy
    config: SearchConfig
    precision: str = "float16"
    """Of matrix products: `float16`, `bfloat16`, `tf32` or `float32`. Sums, norms, masses and costs are float32."""
    graph_steps: int = 8
    """Steps per graph; remaining steps are made one by one."""
    name: str = field(default="fused", init=False)
    _replays: Replays = field(default_factory=Replays, init=False, repr=False)

    def __post_init__(self) -> None:
        reason = why_not(self.policy, self.config)
        if reason is not None:
            raise ValueError(f"the fused engine cannot make this search: {reason}")
        self._look = FusedPolicy(self.policy, self.precision, steady=self.config.steady)

    def row_bytes(self, length: int) -> int:
        """Linear in the length: nothing is stored per pair of positions."""
        return POSITION_BYTES * length

    @torch.inference_mode()
    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Compile kernels and capture graphs for a batch of this shape."""
        self._replay(batch, remembering(state, self.config.tabu, batch.depots)).prepare()

    @torch.inference_mode()
    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        state = remembering(state, self.config.tabu, batch.depots)
        return self._replay(batch, state).run(batch, state, steps)

    @torch.no_grad()
    def step(self, batch: Batch, state: SearchState) -> Step:
        """One step, with its moves and their log-probabilities."""
        state = remembering(state, self.config.tabu, batch.depots)
        log_prob_B = torch.zeros(batch.rows, device=batch.device)
        move_B2 = self._pick(batch, state, log_prob_B)
        return Step(self._moved(batch, state, move_B2), move_B2, log_prob_B)

    def refresh(self) -> None:
        """Load the policy's current weights."""
        self._look.refresh()

    def _replay(self, batch: Batch, state: SearchState) -> Replay:
        return self._replays.ready(self._steps, batch, state, self.graph_steps)

    def _steps(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        for _ in range(steps):
            state = self._moved(batch, state, self._pick(batch, state))
        return state

    def _pick(self, batch: Batch, state: SearchState, log_prob_B: Tensor | None = None) -> Tensor:
        """A move per row."""
        from dact.kernels.tour_view.triton_impl import tour_view_triton

        features_BNF, feasible = look(self.problem, batch, state.tour_BN, self.config.apply, tour_view_triton)
        return self._look.pick(
            features_BNF,
            tour_BN=state.tour_BN,
            last_move_B2=state.last_move_B2,
            draw_2B=None if self.config.greedy else row_draws(state.stream_B),
            feasible=feasible,
            log_prob_B=log_prob_B,
            tabu=tabu_of(state, self.config.apply, batch.depots),
        )

    def _moved(self, batch: Batch, state: SearchState, move_B2: Tensor) -> SearchState:
        from dact.kernels.make_move.triton_impl import make_move_triton

        after = make_move_triton(state, move_B2, batch, self.config.apply, self.config.patience)
        return remembered(after, batch.depots)

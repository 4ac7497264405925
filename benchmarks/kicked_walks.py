"""Rows of the hybrid search whose kicks begin where they are told to, for `learnt_kick.py`.

Shape letters: R rows, N nodes, D depots, M = N - D customers, C centres, X trials.
"""

import torch
from torch import Tensor

from dact.kernels import descent
from dact.kernels.row_draws import streams
from dact.problems import Batch
from dact.search.hybrid import _anchored, terrain_of
from dact.search.hybrid_settings import HybridConfig, settled

CENTRES = 64
"""Centres drawn for a row at a time."""
FLOOR = 0.05
"""Share of the centres that are drawn evenly."""
JUDGED = descent.job.COUNTS.index("judged")


class Walk:
    """One row for each instance of a batch, and rounds from where the rows are."""

    def __init__(self, batch: Batch, tour_BN: Tensor, seed: int) -> None:
        self.batch = batch
        self.settings = settled(HybridConfig(), batch.length, batch.depots, 1)
        self.terrain = terrain_of(batch, tour_BN, self.settings.neighbours)
        row_R = torch.arange(batch.rows, device=batch.device)
        stream_R = streams(seed, range(batch.rows), batch.device)
        self.rows = descent.start_rows(self.terrain, tour_BN, row_R, stream_R)
        self.advance(self.rows, 0)

    def advance(self, rows: descent.Rows, rounds: int, temperature: float = 0.0, cooling: float = 0.0) -> None:
        """Bring all rows to so many rounds."""
        kinds = descent.codes(self.settings.neighbourhoods, routes=self.batch.depots > 0)
        launch = descent.Launch(
            terrain=self.terrain,
            rows=rows,
            codes_V=torch.tensor(kinds, dtype=torch.int32, device=self.batch.device),
            cuts=descent.cuts(kinds),
            settings=self.settings.kick,
            rounds=rounds,
            looks=descent.LOOKS,
            temperature=temperature,
            cooling=cooling,
        )
        while True:
            descent.launch(launch)
            if bool(rows.done(rounds).all()):
                return

    def tour(self) -> Tensor:
        """(R, N) tours of the last accepted rounds."""
        return _anchored(self.rows.current_RN)

    def draw_centres(self, chance_RM: Tensor) -> None:
        """Let the next kicks begin at customers drawn by these chances."""
        even = chance_RM.mean(1, keepdim=True).clamp(min=1e-12)
        sum_RM = ((1 - FLOOR) * chance_RM + FLOOR * even).cumsum(1)
        share_RC = torch.rand(len(sum_RM), CENTRES, device=sum_RM.device) * sum_RM[:, -1:]
        customer_RC = torch.searchsorted(sum_RM, share_RC).clamp(max=sum_RM.shape[1] - 1)
        self.rows.centre_RC = (self.batch.depots + customer_RC).to(torch.uint16).contiguous()

    def draw_anywhere(self) -> None:
        """Let the next kicks begin at any customer."""
        self.rows.centre_RC = self.rows.centre_RC[:, :0].contiguous()

    def gains(self, kicks: int) -> Tensor:
        """(R, N - D, kicks): what kicks at each customer gain in percent of the cost, 0 for those that lose."""
        depots, nodes, device = self.batch.depots, self.batch.length, self.batch.device
        from_X = torch.arange(self.batch.rows, device=device).repeat_interleave((nodes - depots) * kicks)
        stream_X = torch.randint(-(2**62), 2**62, from_X.shape, device=device)
        trial = descent.start_rows(self.terrain, self.tour()[from_X], self.rows.source_R[from_X], stream_X)
        trial.dirty_RW.zero_()
        trial.count_R6[:, JUDGED] = 1
        centre_Y = torch.arange(depots, nodes, device=device).repeat_interleave(kicks)
        trial.centre_RC = centre_Y.repeat(self.batch.rows).unsqueeze(1).to(torch.uint16).contiguous()
        before_X = self.rows.cost_R3[from_X, 1]
        trial.cost_R3[:] = before_X.unsqueeze(1)
        self.advance(trial, 1)
        gain_X = 100 * (before_X - trial.cost_R3[:, 2]).clamp(min=0) / before_X
        return gain_X.view(self.batch.rows, nodes - depots, kicks).float()

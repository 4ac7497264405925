"""The kernels of the critic, of the loss and of what a segment saw compile for a Hopper GPU, here and now."""

from pathlib import Path

import pytest
from apart import run_apart

triton = pytest.importorskip("triton")
ASSEMBLER = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
SCRIPT = """
import torch
from offline import caught_launches
from dact.kernels.pick_move import Capacity
from dact.kernels.pick_move.opened import open_pairs_triton
from dact.kernels.ppo_loss import Evaluation, Objective, Outcome
from dact.kernels.ppo_loss.triton_impl import ppo_loss_triton
from dact.kernels.value_layer.triton_impl import attend, attend_grad, norm, norm_grad, relu_grad_

with caught_launches() as reports:
    for size, dtype in ((20, torch.float16), (100, torch.float16), (100, torch.float32)):
        x = torch.zeros(2, size, 128, dtype=dtype)
        packed, seen = torch.zeros(2, size, 432, dtype=dtype), torch.zeros(2, size, 144, dtype=dtype)
        bias, rate, top = torch.zeros(2, 256), torch.zeros(2), torch.zeros(())
        attend(packed, 6, 21, "tf32")
        attend_grad(seen, packed, 6, 21, "tf32")
        for pool in (False, True):
            norm(x, x, pool=pool)
            norm_grad(torch.zeros(2, 128) if pool else x, x, rate, top, bias, pool=pool)
        relu_grad_(x, x, bias)
    for size in (20, 100, 149):
        tour, last = torch.zeros(2, size, dtype=torch.int64), torch.zeros(2, 2, dtype=torch.int64)
        loads = Capacity(torch.zeros(2, size, 6, dtype=torch.int32), torch.zeros(2, dtype=torch.int32))
        for feasible in (None, loads):
            open_pairs_triton(tour, last, feasible)
    step = torch.zeros(4, 600)
    now = Evaluation(step, step, step)
    outcome = Outcome(step, torch.zeros(600), torch.ones(600))
    ppo_loss_triton(now, now, outcome, Objective(0.1, 0.999, True, 0.01))
for each in reports:
    print(each.name, each.spilled_bytes, each.shared_bytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(not ASSEMBLER.is_file(), reason="Triton has no assembler here")
def test_kernels_of_training_compile_and_do_not_spill() -> None:
    """Tours of 20 and of 100 positions, in half precision and in float32, with the paper's widths."""
    lines = run_apart("-c", SCRIPT)
    assert len(lines) == 3 * 7 + 3 * 2 + 1
    for name, spilled, shared in lines:
        assert int(spilled) == 0, name
        assert int(shared) <= 227 * 1024, name

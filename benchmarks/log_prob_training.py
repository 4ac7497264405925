"""Log-probabilities of moves for training: the kernels against plain PyTorch on this GPU, values, gradients, times.

    python benchmarks/log_prob_training.py             N = 20, 50, 100, 120 at 2,400 rows
    python benchmarks/log_prob_training.py --sweep     also other launches of the kernels, in float16

Rows `kernel` are from queries and keys to log-probability and entropy; rows `decoder` are from aspects, against the
distribution over the decoder's logits in TF32. Errors are relative distances from float32 without TF32 on some rows:
of the log-probability, or the largest of all gradients. With TRITON_INTERPRET=1 and few rows it runs without a GPU,
which tests the script and nothing else.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from harness import CHECKED, DEVICE, Bench, compile_ahead, distance, milliseconds, reference_milliseconds, report

from dact.kernels.move_log_prob import Aggregation, move_log_prob_reference
from dact.policy import PairDistribution
from dact.policy.decoder import Decoder, DecoderConfig

SIZES = (20, 50, 100, 120)
CLIP = 6.0
DTYPES = {"float16": torch.float16, "tf32": torch.float32}
FORWARDS = (
    {"forward_stages": 1}, {"forward_stages": 3}, {"forward_second": 16}, {"forward_second": 16, "forward_warps": 8},
    {"forward_second": 32, "forward_warps": 8},
)  # fmt: skip
BACKWARDS = (
    {"registers": None, "residents": 2}, {"registers": 128, "residents": 4}, {"residents": 6}, {"residents": 12},
    {"stages": 2}, {"stages": 3}, {"second": 16, "warps": 8, "registers": 128, "residents": 2},
    {"second": 16, "warps": 8, "registers": None, "residents": 1}, {"operand_first": 16}, {"operand_first": 64},
    {"operand_stages": 1}, {"operand_stages": 3}, {"operand_registers": None},
)  # fmt: skip
"""Other launches: see kernels/move_log_prob/pairs.py."""
Values = Callable[[int], tuple[Tensor, Tensor]]


def open_pairs(rows: int, size: int) -> tuple[Tensor, Tensor]:
    """All pairs of different positions but a tenth, and a move per row that is open."""
    open_BNN = (torch.rand(rows, size, size, device=DEVICE) < 0.9) & ~torch.eye(size, dtype=torch.bool, device=DEVICE)
    open_BNN[:, 1, 2] = True
    return open_BNN, torch.tensor([[1, 2]], device=DEVICE).expand(rows, -1).contiguous()


def gradients(values: Values, leaves: list[Tensor], grad_B: Tensor, rows: int) -> tuple[Tensor, ...]:
    """Forward and backward of the log-probability on the first rows."""
    return torch.autograd.grad(values(rows)[0], leaves, grad_B[:rows])


def highest(work: Callable[[], object]) -> object:
    """Without TF32."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    made = work()
    torch.set_float32_matmul_precision(before)
    return made


def kernels(bench: Bench, size: int) -> None:
    """From queries and shared keys."""
    from dact.kernels.move_log_prob.pairs import Launch
    from dact.kernels.move_log_prob.triton_impl import move_log_prob_triton

    rows = bench.training_rows
    shapes = ((32, 8), (32,), (32, 32), (32,), (1, 32), (1,))
    network = Aggregation(*(torch.randn(s, device=DEVICE).mul_(s[-1] ** -0.5).requires_grad_() for s in shapes))
    query = torch.randn(2, rows, size, 256, device=DEVICE) / 8
    key = torch.randn(2, rows, size, 64, device=DEVICE)
    open_BNN, move_B2 = open_pairs(rows, size)
    grad_B = torch.randn(rows, device=DEVICE) / rows

    def values(n: int, function: Callable[..., tuple[Tensor, Tensor]], leaves: list[Tensor], **settings: object):  # noqa: ANN202
        pairs = {"clip": CLIP, "open_BNN": open_BNN[:n], "move_B2": move_B2[:n]}
        return function(leaves[0][:, :n], leaves[1][:, :n], Aggregation(*leaves[2:]), **pairs, **settings)

    plain = [query.requires_grad_(), key.requires_grad_(), *network]
    slow = partial(values, function=move_log_prob_reference, leaves=plain)
    expected = highest(lambda: slow(CHECKED)[0].detach())
    expected_grads = highest(lambda: gradients(slow, plain, grad_B, CHECKED))
    took = reference_milliseconds(rows, lambda n: slow(n))
    took_both = reference_milliseconds(rows, lambda n: gradients(slow, plain, grad_B, n))
    for name, dtype in DTYPES.items():
        leaves = [x.detach().to(dtype).requires_grad_() for x in (query, key)] + list(network)
        launches: list[dict[str, int | None]] = [{}]
        launches += [*FORWARDS, *BACKWARDS] if bench.sweep and name == "float16" else []
        for settings in launches:
            launch = {"launch": Launch(**settings)} if settings else {}  # type: ignore[arg-type]
            fast = partial(values, function=move_log_prob_triton, leaves=leaves, precision="tf32", **launch)
            note = " ".join(f"{key} {value}" for key, value in settings.items())
            try:
                if settings not in BACKWARDS:
                    error = distance(fast(CHECKED)[0].detach(), expected)
                    bench.add("kernel forward", rows, size, name, error, took, milliseconds(partial(fast, rows)), note)
                if settings not in FORWARDS:
                    # Compared at a scale that float16 holds, as training would with a scaled loss.
                    ours = gradients(fast, leaves, grad_B * rows, CHECKED)
                    error = distance(ours, tuple(x * rows for x in expected_grads))
                    work = partial(gradients, fast, leaves, grad_B * rows, rows)
                    bench.add("kernel fwd+bwd", rows, size, name, error, took_both, milliseconds(work), note)
            except Exception as fault:
                print(f"kernel {size} {name} {settings}: {type(fault).__name__} {str(fault)[:300]}", flush=True)


def decoders(bench: Bench, size: int) -> None:
    """From aspects, with gradients of all weights."""
    rows = bench.training_rows
    decoder = Decoder(2, 64, DecoderConfig()).to(DEVICE)
    aspects = torch.randn(2, rows, size, 64, device=DEVICE)
    open_BNN, move_B2 = open_pairs(rows, size)
    grad_B = torch.randn(rows, device=DEVICE) / rows

    def by_logits(n: int, x: Tensor) -> tuple[Tensor, Tensor]:
        moves = PairDistribution(decoder(x[:, :n]), open_BNN[:n])
        return moves.log_prob(move_B2[:n]), grad_B[:n]

    def direct(n: int, x: Tensor) -> tuple[Tensor, Tensor]:
        return decoder.log_prob(x[:, :n], open_BNN[:n], move_B2[:n])

    plain = aspects.clone().requires_grad_()
    leaves = [plain, *decoder.parameters()]
    slow = partial(by_logits, x=plain)
    expected = highest(lambda: slow(CHECKED)[0].detach())
    expected_grads = highest(lambda: gradients(slow, leaves, grad_B, CHECKED))
    took = milliseconds(lambda: slow(rows))
    took_both = milliseconds(lambda: gradients(slow, leaves, grad_B, rows))
    for name, dtype in DTYPES.items():
        x = aspects.to(dtype).requires_grad_()
        fast, own = partial(direct, x=x), [x, *decoder.parameters()]
        error = distance(fast(CHECKED)[0].detach(), expected)
        bench.add("decoder forward", rows, size, name, error, took, milliseconds(partial(fast, rows)))
        error = distance(gradients(fast, own, grad_B * rows, CHECKED), tuple(g * rows for g in expected_grads))
        work = partial(gradients, fast, own, grad_B * rows, rows)
        bench.add("decoder fwd+bwd", rows, size, name, error, took_both, milliseconds(work))


SECTIONS: dict[str, Callable[[Bench, int], None]] = {"kernels": kernels, "decoders": decoders}


def main() -> None:
    """Parse, compile, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--rows", type=int, default=2_400, help=argparse.SUPPRESS)
    parser.add_argument("--training-rows", type=int, default=2_400)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--ahead", choices=("yes", "no"), default="yes", help="compile in parallel first")
    options = parser.parse_args()
    if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        raise SystemExit("this needs a CUDA device")
    torch.set_float32_matmul_precision("high")
    begun = time.monotonic()
    if options.ahead == "yes":
        jobs = [["--only", name, "--sizes", str(size)] for name in options.only for size in options.sizes]
        compile_ahead(__file__, [[*job, *["--sweep"] * options.sweep] for job in jobs])
        print(f"compiled after {time.monotonic() - begun:.0f} s", flush=True)
    bench = Bench(options.rows, options.training_rows, options.sizes, options.sweep, float("inf"))
    for name in options.only:
        for size in options.sizes:
            torch.manual_seed(0)
            SECTIONS[name](bench, size)
            if DEVICE == "cuda":
                torch.cuda.empty_cache()
    report(bench)


if __name__ == "__main__":
    main()

"""A program per row. Shape letters: as in reference.py, with P >= N positions, a power of two."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.fingerprint.reference import HALF
from dact.kernels.launch import power_of_two
from dact.kernels.row_draws.triton_impl import mixed

BITS = tl.constexpr(HALF)


@triton.jit
def fingerprint(node_P, next_P, inside_P, depots):
    """That of one tour, from its nodes and the next ones."""
    spare = tl.maximum(depots - 1, 0)
    node_P = tl.maximum(node_P - spare, 0).to(tl.int64)
    next_P = tl.maximum(next_P - spare, 0).to(tl.int64)
    leg_P = mixed((tl.minimum(node_P, next_P) << BITS) + tl.maximum(node_P, next_P))
    return tl.sum(tl.where(inside_P & (node_P != next_P), leg_P, 0), 0)


@triton.jit
def _fingerprint_kernel(tour_ptr, fingerprint_ptr, depots, N, P: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place_P = tl.arange(0, P)
    inside_P = place_P < N
    node_P = tl.load(tour_ptr + row * N + place_P, mask=inside_P, other=0)
    next_P = tl.load(tour_ptr + row * N + (place_P + 1) % N, mask=inside_P, other=0)
    tl.store(fingerprint_ptr + row, fingerprint(node_P, next_P, inside_P, depots))


def fingerprints_triton(tour_BN: Tensor, depots: int) -> Tensor:
    """As the reference, bit for bit."""
    rows, size = tour_BN.shape
    padded = power_of_two(size, least=32)
    fingerprint_B = torch.empty(rows, dtype=torch.long, device=tour_BN.device)
    _fingerprint_kernel[(rows,)](
        tour_BN.contiguous(), fingerprint_B, depots, size, P=padded, num_warps=max(1, min(4, padded // 64))
    )
    return fingerprint_B

"""Numbers by which tours with the same legs are recognised, for searches that do not go back to recent tours."""

from torch import Tensor

from dact.kernels.fingerprint.reference import fingerprints_reference
from dact.kernels.launch import runs_triton


def fingerprints(tour_BN: Tensor, depots: int) -> Tensor:
    """(B,) int64; one kernel on GPUs, else plain PyTorch."""
    if runs_triton(tour_BN):
        from dact.kernels.fingerprint.triton_impl import fingerprints_triton

        return fingerprints_triton(tour_BN, depots)
    return fingerprints_reference(tour_BN, depots)


__all__ = ["fingerprints", "fingerprints_reference"]

"""Reference in plain PyTorch.

Shape letters: S aspects, B rows, N positions, D width, E = heads * D.
"""

from torch import Tensor


def context_reference(x_SBND: Tensor, local_SDD: Tensor, whole_SDD: Tensor, query_SDE: Tensor) -> tuple[Tensor, Tensor]:
    """Contexts (S, B, N, D) and queries (S, B, N, E)."""
    pooled_SB1D = x_SBND.amax(dim=2, keepdim=True)
    context_SBND = x_SBND @ local_SDD.unsqueeze(1) + pooled_SB1D @ whole_SDD.unsqueeze(1)
    return context_SBND, context_SBND @ query_SDE.unsqueeze(1)

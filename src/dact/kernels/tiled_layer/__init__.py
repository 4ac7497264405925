"""The encoder layer of `dual_layer` for rows too long for one program: projection, attention and the rest as kernels.

Between its three kernels lie the packed projections (S, B, H, N, 4 K) and what the heads gathered (S, B, N, 2 D);
nothing of size N x N leaves a program. The reference is that of `dual_layer`.
"""

from dact.kernels.dual_layer import DualLayer, dual_layer_reference

__all__ = ["DualLayer", "dual_layer_reference"]

"""The eight symmetries of the square: ways to show the same instance to the policy."""

import torch
from torch import Tensor

# Flips first and rotations of the flipped last; row k maps (x, y), measured from the centre, to M @ (x, y).
SYMMETRIES = torch.tensor(
    [
        [[1, 0], [0, 1]],
        [[0, 1], [1, 0]],
        [[1, 0], [0, -1]],
        [[-1, 0], [0, 1]],
        [[-1, 0], [0, -1]],
        [[0, -1], [1, 0]],
        [[0, 1], [-1, 0]],
        [[0, -1], [-1, 0]],
    ],
    dtype=torch.float32,
)
MOST = len(SYMMETRIES)


def augment(coordinates_BN2: Tensor, copies: int) -> Tensor:
    """Each row `copies` times in turn (B * copies rows), the k-th under the k-th symmetry of the unit square."""
    if not 1 <= copies <= MOST:
        raise ValueError(f"augment is {copies}, but a square has 1 to {MOST} symmetries")
    matrix_A22 = SYMMETRIES[:copies].to(coordinates_BN2)
    turned_BAN2 = torch.einsum("axy,bny->banx", matrix_A22, coordinates_BN2 - 0.5) + 0.5
    return turned_BAN2.flatten(0, 1)

"""Returns of a segment. Shape letters: T steps of a segment, B rows."""

import torch
from torch import Tensor


def n_step_returns(reward_TB: Tensor, bootstrap_B: Tensor, discount: float) -> Tensor:
    """R_t = r_t + discount * R_(t+1), from the critic's value of the state behind the last step (Algorithm 1)."""
    following_B = bootstrap_B
    backwards = []
    for reward_B in reward_TB.flip(0).unbind(0):
        following_B = reward_B + discount * following_B
        backwards.append(following_B)
    return torch.stack(backwards[::-1])

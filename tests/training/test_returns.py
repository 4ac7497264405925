"""Returns of a segment."""

import torch

from dact.kernels.ppo_loss import n_step_returns


def test_closed_form():
    """R_t is the discounted sum of the rewards from t on plus the discounted value behind the last step."""
    generator = torch.Generator().manual_seed(0)
    steps, rows, discount = 5, 7, 0.9
    reward_TB = torch.rand(steps, rows, generator=generator, dtype=torch.float64)
    bootstrap_B = torch.rand(rows, generator=generator, dtype=torch.float64)
    expected_TB = torch.stack(
        [
            sum(discount ** (later - t) * reward_TB[later] for later in range(t, steps))
            + discount ** (steps - t) * bootstrap_B
            for t in range(steps)
        ]
    )
    torch.testing.assert_close(n_step_returns(reward_TB, bootstrap_B, discount), expected_TB)


def test_by_hand():
    """Rewards 1 and 2, value 4, discount 1/2: 2 + 4/2 = 4, then 1 + 4/2 = 3."""
    returns_TB = n_step_returns(torch.tensor([[1.0], [2.0]]), torch.tensor([4.0]), 0.5)
    assert returns_TB.tolist() == [[3.0], [4.0]]

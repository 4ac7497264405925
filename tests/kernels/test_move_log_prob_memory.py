"""Log-probability of moves: what is kept for the gradients, and what is made on the way."""

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from dact.kernels.move_log_prob import Aggregation, move_log_prob
from dact.policy import DecoderConfig
from dact.policy.decoder import Decoder

pytest.importorskip("triton")


@pytest.fixture
def by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are launched as on a GPU."""
    for name in ("dact.kernels.move_log_prob", "dact.policy.decoder"):
        monkeypatch.setattr(f"{name}.runs_triton", lambda _tensor: True)


class Largest(TorchDispatchMode):
    """Remembers the most numbers that a tensor had; Triton's interpreter makes others, of bytes."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        sizes = [x.numel() for x in tree_leaves(made) if isinstance(x, torch.Tensor) and x.is_floating_point()]
        self.numbers = max(self.numbers, *sizes, 0)
        return made


@pytest.mark.usefixtures("by_kernels")
def test_one_number_a_pair_is_kept(device: str) -> None:
    """Beside its inputs, the backward pass finds at most B * N * N numbers, and not the hidden units of every pair."""
    rows, size = 2, 17
    shapes = ((2, rows, size, 256), (2, rows, size, 64), (32, 8), (32,), (32, 32), (32,), (1, 32), (1,))
    query, key, *network = own = [torch.full(shape, 0.1, device=device).requires_grad_() for shape in shapes]
    open_BNN = torch.ones(rows, size, size, dtype=torch.bool, device=device)
    move_B2 = torch.tensor([[2, 3]] * rows, device=device)
    kept = []
    with saved_tensors_hooks(lambda x: kept.append(x) or x, lambda x: x):
        move_log_prob(query, key, Aggregation(*network), clip=6.0, open_BNN=open_BNN, move_B2=move_B2)
    given = {x.data_ptr() for x in own}
    numbers = [x.numel() for x in kept if x.data_ptr() not in given]
    assert max(numbers) == rows * size * size
    assert sum(numbers) <= rows * (size * size + 8)


@pytest.mark.usefixtures("by_kernels")
def test_hidden_units_are_never_in_memory(device: str) -> None:
    """From aspects to all gradients, no tensor has a number for each hidden unit of each pair."""
    rows, size = 1, 40
    torch.manual_seed(0)
    decoder = Decoder(2, 64, DecoderConfig()).to(device)
    aspects_SBND = torch.randn(2, rows, size, 64, device=device)
    open_BNN = ~torch.eye(size, dtype=torch.bool, device=device).unsqueeze(0)
    move_B2 = torch.tensor([[2, 3]], device=device)
    with Largest() as made:
        log_prob_B, entropy_B = decoder.log_prob(aspects_SBND, open_BNN, move_B2)
        torch.autograd.grad((log_prob_B + entropy_B).sum(), list(decoder.parameters()))
    assert 0 < made.numbers < rows * size * size * decoder.config.hidden

"""Traces the networks with torch.jit once per shape: for few rows on a CPU, calling operations from Python takes
about a sixth of a step."""

import warnings
from collections import Counter
from collections.abc import Callable
from threading import Lock

import torch
from torch import Tensor, nn

Network = Callable[[Tensor, Tensor], Tensor]

# Calls with a shape after which it is recorded; a recording costs about as much as forty calls.
PATIENCE = 32


class Playback:
    """Calls encoder and decoder without gradients, from a trace once a shape has been used often enough.

    A trace refers to the parameters themselves, so it stays valid when they change in place.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        self.whole = _Whole(encoder, decoder)
        self.calls: Counter[torch.Size] = Counter()
        self.recordings: dict[torch.Size, Network] = {}
        self.lock = Lock()

    def __call__(self, features_BNF: Tensor, place_ND: Tensor) -> Tensor:
        """(B, N, N) logits."""
        shape = features_BNF.shape
        self.calls[shape] += 1
        if self.calls[shape] >= PATIENCE and shape not in self.recordings:
            # PyTorch records one network at a time.
            with self.lock:
                self.recordings[shape] = _record(self.whole, features_BNF, place_ND)
        return self.recordings.get(shape, self.whole)(features_BNF, place_ND)


class _Whole(nn.Module):
    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, features_BNF: Tensor, place_ND: Tensor) -> Tensor:
        logits: Tensor = self.decoder(self.encoder(features_BNF, place_ND))
        return logits


def _record(network: nn.Module, features_BNF: Tensor, place_ND: Tensor) -> Network:
    """A recording, or the network itself where PyTorch cannot record it."""
    with warnings.catch_warnings():
        # It warns that sizes become constants, which is what we want.
        warnings.simplefilter("ignore")
        try:
            recorded: Network = torch.jit.trace(network, (features_BNF, place_ND), check_trace=False)  # type: ignore[no-untyped-call]
        except (RuntimeError, AttributeError):
            return network
    return recorded

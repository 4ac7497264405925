"""Reference in plain PyTorch on signed integers, whose products and sums wrap around as unsigned ones do.

Shape letters: B rows, C numbers of a row.
"""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

DRAWS = 2
"""A step draws a first and a second position."""


def _signed(number: int) -> int:
    """The same 64 bits as a signed integer."""
    return (number + 2**63) % 2**64 - 2**63


GROWTH = _signed(0x9E3779B97F4A7C15)
"""Increment of a stream per number; odd, so that its period is 2^64."""
FACTORS = _signed(0xBF58476D1CE4E5B9), _signed(0x94D049BB133111EB)
STEP = _signed(DRAWS * GROWTH)
"""Increment of a stream per step."""


def row_draws_reference(stream_B: Tensor) -> Tensor:
    """(2, B) float64 in [0, 1): the draws of one step."""
    return _uniform(stream_B, DRAWS)


def many_draws(stream_B: Tensor, count: int) -> Tensor:
    """(B, C) float64 in [0, 1), from streams derived from the rows' own, which do not advance."""
    return _uniform(mixed(~stream_B), count).t()


def streams(seed: int, places: Sequence[int], device: torch.device | str, copies: int = 1) -> Tensor:
    """First states of the streams, `copies` for each place; every row of a seed has its own."""
    row_IC = torch.tensor(places, device=device).unsqueeze(1) * copies + torch.arange(copies, device=device)
    return mixed(mixed(torch.full_like(row_IC, seed)) + GROWTH * (row_IC + 1)).flatten()


def new_streams(rows: int, generator: Generator) -> Tensor:
    """Streams with random first states, on the generator's device."""
    return mixed(torch.empty(rows, dtype=torch.long, device=generator.device).random_(generator=generator))


def _uniform(stream_B: Tensor, count: int) -> Tensor:
    """(C, B): the next numbers; 53 bits each, so that none rounds to 1."""
    growth_C1 = GROWTH * torch.arange(1, count + 1, device=stream_B.device).unsqueeze(1)
    return _shifted(mixed(stream_B + growth_C1), 11).double() * 2.0**-53


def mixed(x: Tensor) -> Tensor:
    """Hashed 64-bit numbers."""
    for bits, factor in zip((30, 27), FACTORS, strict=True):
        x = (x ^ _shifted(x, bits)) * factor
    return x ^ _shifted(x, 31)


def _shifted(x: Tensor, bits: int) -> Tensor:
    """To the right, with zeros from the left."""
    return (x >> bits).bitwise_and(2 ** (64 - bits) - 1)

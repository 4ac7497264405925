"""Encodings of the places in a tour: the paper's cyclic encoding (Eq. 4, Appendix B) and the sinusoidal one.

A table has a row per position and a column per dimension. All are made in float64 once per tour length.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[np.float64]
KINDS = ("cyclic", "cyclic_paper", "sinusoidal")


@dataclass(frozen=True, kw_only=True)
class PositionConfig:
    """Which encoding, and which tour length sets its wavelengths."""

    kind: str = "cyclic"
    """`cyclic`: as in the authors' code; `cyclic_paper`: Eq. 4 to the letter; `sinusoidal`: absolute."""
    wavelength_length: int | None = None
    """Tour length the wavelengths are made for; None means the length at hand (Appendix B, strategy 1)."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"position encoding '{self.kind}' is not one of {', '.join(KINDS)}")
        length = self.wavelength_length
        if length is not None and (type(length) is not int or not 1 <= length <= 2**31):
            raise ValueError(f"wavelength_length {length} is not a whole number from 1 to 2^31")


def encoding(length: int, dim: int, config: PositionConfig) -> Tensor:
    """The (length, dim) table."""
    wave_length = config.wavelength_length or length
    if config.kind == "sinusoidal":
        table = sinusoidal(length, dim)
    elif config.kind == "cyclic_paper":
        table = cyclic(length, paper_wavelengths(wave_length, dim))
    else:
        table = smoothed(cyclic(length, code_wavelengths(wave_length, dim), code_phases(dim), grain=0.01))
    return torch.from_numpy(table).float()


def cyclic(length: int, wavelength_D: Array, phase_D: Array | None = None, grain: float | None = None) -> Array:
    """Eq. 4: sine (even dimensions) or cosine (odd) of a triangle wave that closes after `length` positions.

    z(i) spreads the positions evenly over a whole number of wavelengths; `grain` rounds it down to multiples of
    itself, as the authors' look-up in a table of that step does.
    """
    period_D = wavelength_D * np.ceil(length / wavelength_D)
    place_N1 = np.arange(length)[:, None]
    z_ND = place_N1 * period_D / length
    if grain is not None:
        entries_D = np.ceil(period_D / grain)
        z_ND = np.floor(place_N1 * (entries_D / length)) * grain
    angle_ND = 2 * np.pi / wavelength_D * np.abs(z_ND % (2 * wavelength_D) - wavelength_D)
    if phase_D is not None:
        angle_ND = angle_ND + phase_D
    even_D = np.arange(len(wavelength_D)) % 2 == 0
    return np.where(even_D, np.sin(angle_ND), np.cos(angle_ND))


def paper_wavelengths(length: int, dim: int) -> Array:
    """Eq. 9: growing with the dimension from N^(1/floor(dim/2)) up, N for the last half."""
    half = dim // 2
    shortest = length ** (1 / half)
    dimension_D = np.arange(dim)
    growing_D = (3 * (dimension_D // 3) + 1) / dim * (length - shortest) + shortest
    return np.where(dimension_D < half, growing_D, float(length))


def code_wavelengths(length: int, dim: int) -> Array:
    """Whole numbers, evenly spaced over dim/2 points, every third of them used three times."""
    half = dim // 2
    step_H = np.linspace(length ** (1 / half), length, half).astype(int).astype(float)
    index_D = 3 * (np.arange(dim) // 3) + 1
    wavelength_D: Array = step_H[np.minimum(index_D, half - 1)]
    return wavelength_D


def code_phases(dim: int) -> Array:
    """Shifts that tell apart the dimensions of the last half, which share their wavelength."""
    half = dim // 2
    dimension_D = np.arange(dim)
    return np.where(dimension_D <= half, 0.0, 2 * np.pi * (half - dimension_D) / half)


def smoothed(table_ND: Array) -> Array:
    """The mean over five neighbouring positions, around the cycle, centred per dimension."""
    neighbours = sum(np.roll(table_ND, shift, axis=0) for shift in (-2, -1, 0, 1, 2))
    centred_ND: Array = np.asarray(neighbours) / 5 - table_ND.mean(axis=0)
    return centred_ND


def sinusoidal(length: int, dim: int) -> Array:
    """The original Transformer's absolute encoding."""
    exponent_D = 2 * (np.arange(dim) // 2) / dim
    angle_ND = np.arange(length)[:, None] / 10000**exponent_D
    return np.where(np.arange(dim) % 2 == 0, np.sin(angle_ND), np.cos(angle_ND))

"""The base pattern of the cyclic encoding beside the 4-digit cyclic Gray code (Figure 4)."""

import numpy as np

from dact.instances.arrays import FloatArray, IntArray
from dact.plotting.encodings import plot_gray_code, plot_pattern
from dact.plotting.panels import new_figure
from dact.policy.positions import cyclic
from dact.reproduce.base import Outcome, Picture, Request, Study, Table

DIGITS = 4
FINE = 400


def make(request: Request) -> Outcome:
    """The code with the pattern of its digits, and one period of the encoding's own pattern."""
    digit_GN = gray_code(DIGITS)
    figure = new_figure(10, 5.4)
    top, below = figure.subplots(2, 1, height_ratios=(1, 1.1))
    plot_gray_code(digit_GN, top)
    place_P, even_P, odd_P = base_pattern()
    axes = below.get_subplotspec().subgridspec(1, 2).subplots()
    below.remove()
    plot_pattern(place_P, even_P, 1.0, "base pattern, even dimensions (sine)", axes[0])
    plot_pattern(place_P, odd_P, 1.0, "base pattern, odd dimensions (cosine)", axes[1])
    codes = tuple((number, *(int(digit) for digit in code)) for number, code in enumerate(digit_GN.T))
    columns = dict.fromkeys(("number", *(f"digit {row + 1}" for row in range(DIGITS))))
    return Outcome(
        outputs=(
            Picture(name="pattern", title="Gray code and base pattern of the cyclic encoding", figure=figure),
            Table(name="code", title="The code", columns=columns, rows=codes),
        ),
        instances=f"none: the numbers 0 to {2**DIGITS - 1}",
        notes=(
            "As in the paper: neighbouring codes differ in one digit, the last (1110, lowest digit first) and the "
            "first (1111) too. The lowest digit repeats `10|01`, which is the same read from either end, and the "
            "others do so with longer periods. A period of the encoding's pattern has two wavelengths and mirrors at "
            "the dashed line.",
        ),
    )


def gray_code(digits: int) -> IntArray:
    """(digits, 2^digits), the lowest digit first; begins with ones, as the paper's does."""
    number_N = np.arange(2**digits)
    reflected_N = number_N ^ (number_N >> 1)
    digit_GN: IntArray = 1 - (reflected_N >> np.arange(digits)[:, None] & 1)
    return digit_GN


def base_pattern() -> tuple[FloatArray, FloatArray, FloatArray]:
    """One period of Eq. 4: where, in wavelengths, and the values of an even and an odd dimension."""
    wavelength_D = np.full(2, FINE / 2)
    value_P2 = cyclic(FINE, wavelength_D)
    return np.arange(FINE) / wavelength_D[0], value_P2[:, 0], value_P2[:, 1]


STUDY = Study(
    name="gray-code",
    what="The base pattern of the cyclic encoding beside the 4-digit cyclic Gray code.",
    where="Figure 4",
    make=make,
)

"""Precisions of the policy's matrix products. Costs and draws are not affected."""

from typing import NamedTuple

import torch

from dact.search.searcher import AUTO


class Precision(NamedTuple):
    """How matrix products are computed."""

    dtype: torch.dtype
    """Of their inputs; sums are float32."""
    float32: str
    """How kernels round inputs in float32: to 10 bits (`tf32`) or to about 21 (`tf32x3`)."""

    @property
    def half(self) -> bool:
        """Are inputs of 16 bits?"""
        return self.dtype != torch.float32


PRECISIONS = {
    "float32": Precision(torch.float32, "tf32x3"),
    "tf32": Precision(torch.float32, "tf32"),
    "float16": Precision(torch.float16, "tf32"),
    "bfloat16": Precision(torch.bfloat16, "tf32"),
}
FASTEST = {"cuda": "float16", "cpu": "float32"}
"""What `auto` means."""


def find_precision(name: str) -> Precision:
    """The precision of this name; a ValueError for others."""
    if name not in PRECISIONS:
        raise ValueError(f"precision '{name}' is not one of {', '.join(PRECISIONS)}")
    return PRECISIONS[name]


def settled_precision(precision: str, device: torch.device) -> str:
    """The precision with `auto` resolved; ValueError if the device does not support it."""
    if precision not in (AUTO, *PRECISIONS):
        raise ValueError(f"precision '{precision}' is not one of {', '.join((AUTO, *PRECISIONS))}")
    if precision == AUTO:
        return FASTEST[device.type]
    if device.type == "cpu" and precision != "float32":
        raise ValueError(f"precision '{precision}' needs a GPU: on a CPU the search is in float32")
    return precision

"""Rows of measurements: what they were measured on, and the file they go to."""

import csv
import platform
from collections.abc import Sequence
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from dact.instances import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def append_rows(path: Path, timings: "Sequence[DataclassInstance]") -> None:
    """Append records of one kind to a CSV file; create it if missing."""
    fresh, names = not path.exists(), [each.name for each in fields(timings[0])]
    try:
        with path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, fieldnames=names)
            if fresh:
                writer.writeheader()
            writer.writerows(asdict(timing) for timing in timings)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None


def check_columns(path: Path, kind: "type[DataclassInstance]") -> None:
    """Refuse a file that holds rows of another kind, before anything is measured for it."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if lines and lines[0].split(",") != [each.name for each in fields(kind)]:
        raise InputError(f"{path}: has other columns than these measurements; choose another file")


def cpu_name() -> str:
    """The model as Linux knows it, else what Python says."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def device_name(kind: str) -> str:
    """The GPU's name, or the CPU's."""
    return torch.cuda.get_device_name() if kind == "cuda" else cpu_name()


def triton_version() -> str:
    """Which Triton made the kernels; empty where there is none."""
    try:
        return version("triton")
    except PackageNotFoundError:
        return ""


def percentiles(values: Sequence[float]) -> tuple[float, ...]:
    """The 20th, 50th and 80th, to three decimals."""
    return tuple(round(float(each), 3) for each in np.percentile(values, (20, 50, 80)))

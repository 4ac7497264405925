"""A short form of `make fuzz`: every reader and the whole solver, on a few examples that are always the same."""

import pytest

from fuzz.checks import reading, solving, solving_by_kernels
from fuzz.readers import Format, formats

pytestmark = pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")


@pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)
def test_spoiled_files(form: Format) -> None:
    """A spoiled file of any format is read or refused in one line that names it."""
    counts = reading(form)(40, 1)
    assert counts["refused"]


@pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)
def test_sound_files(form: Format, tmp_path) -> None:
    """The samples that are spoiled are files that are read, but for foreign checkpoints."""
    for sample in form.samples if not form.name.endswith(".pt") else ():
        (tmp_path / form.name).write_bytes(sample)
        form.reader(tmp_path / form.name)


def test_odd_instances() -> None:
    """Answers to odd instances are feasible, cost what an independent account says, and are no worse than the start."""
    counts = solving(25, 1)
    assert counts.total() >= 20


def test_odd_instances_by_kernels() -> None:
    """The same holds for what a GPU would run."""
    assert solving_by_kernels(5, 2).total() >= 5

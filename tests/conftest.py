"""What tests share: where the data lies, small batches of both problems, and one torch thread per worker.

Kernels run under Triton's interpreter where there is no GPU; it must be chosen before Triton is imported.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from dact.problems import PROBLEMS, Batch

ON_THE_GPU = ("kernels/", "search/test_engines", "search/test_fused", "training/test_agreement")
"""What runs on a GPU where there is one, and under the interpreter elsewhere."""
DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
torch.set_num_threads(1)

if not torch.cuda.is_available() and find_spec("triton"):
    os.environ["TRITON_INTERPRET"] = "1"
    from interpreter import prepare

    prepare()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m gpu` selects everything that a GPU computes here, not only what needs one."""
    here = Path(__file__).parent
    for item in items if torch.cuda.is_available() else ():
        if item.path.relative_to(here).as_posix().startswith(ON_THE_GPU):
            item.add_marker("gpu")


@pytest.fixture(autouse=True)
def _full_precision() -> None:
    """A training sets the precision of all matrix products of its process: tests begin with PyTorch's own."""
    torch.set_float32_matmul_precision("highest")


@pytest.fixture(autouse=True)
def _without_a_gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that are not marked `gpu` are of a CPU on every machine, and so are the processes that they start."""
    if "gpu" not in request.keywords:
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture
def data() -> Path:
    """The folder of public instances, where there is one."""
    if not DATA.is_dir():
        pytest.skip("no data folder beside the repository")
    return DATA


@pytest.fixture
def parity_folder() -> Path:
    """Recorded outputs of the authors' network, where there are any."""
    folder = Path(os.environ.get("DACT_PARITY_DIR", DATA / "parity"))
    if not folder.is_dir():
        pytest.skip(f"no parity fixtures in {folder}")
    return folder


class Clock:
    """Stands still until it is told that time passes, or goes on by a tick whenever it is read."""

    now = 0.0
    tick = 0.0

    def perf_counter(self) -> float:
        """Seconds."""
        self.now += self.tick
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What limits on a search's time are measured by in this test, instead of the machine's clock."""
    stopped = Clock()
    monkeypatch.setattr("dact.search.stop.time", stopped)
    return stopped


@pytest.fixture
def generator() -> torch.Generator:
    """A fixed random stream."""
    return torch.Generator().manual_seed(7)


@pytest.fixture(params=sorted(PROBLEMS))
def problem_name(request: pytest.FixtureRequest) -> str:
    """Each problem in turn."""
    return str(request.param)


@pytest.fixture
def batch(problem_name: str, generator: torch.Generator) -> Batch:
    """Five random instances of nine nodes."""
    return PROBLEMS[problem_name].sample(9, 5, generator)

"""Several processes that train one policy."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dact.team import ALONE, Team, first_process
from dact.training import train_command
from dact.training.checkpoint import load_checkpoint

WORKER = Path(__file__).with_name("team_worker.py")
CONFIG = """
name = "team"
problem = "tsp"
size = 6
[schedule]
epochs = 3
batches = 1
rows = 6
horizon = 4
[ppo]
segment = 2
actor_rate = 1e-3
critic_rate = 1e-3
kl_limit = 1e-6
[validation]
count = 4
steps = 4
every_batches = 1
[runtime]
device = "cpu"
[network]
dim = 16
layers = 1
"""
RUNS = {
    "paper": CONFIG,
    "ages": f"{CONFIG}[curriculum]\nages = 6\nrestart = 3\n",
    "tabu": f"tabu = 4\n{CONFIG}",
    "share": CONFIG.replace("kl_limit = 1e-6", "entropy_share = 0.02"),
}


def torchrun(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run something in two processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(argument) for argument in arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Three horizons of two segments."""
    path = tmp_path / "team.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def trained_by_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs that two processes have made: by the paper's curriculum, with rows of all ages, with recent
    tours, and with a bonus for entropy that follows the advantages."""
    folder = tmp_path_factory.mktemp("team")
    for name, text in RUNS.items():
        (folder / f"{name}.toml").write_text(text)
    done = torchrun(WORKER, *(folder / f"{name}.toml" for name in RUNS))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("run", RUNS)
def test_ranks_stay_alike(trained_by_two, run):
    """After some updates all processes have the same weights, changed, although their instances differ. A run that was
    stopped in the middle of a horizon and resumed is where one that was not is, on every process."""
    first, second = (torch.load(trained_by_two / run / f"rank{rank}.pt") for rank in (0, 1))
    assert first["segments"] == second["segments"] == 4
    assert first["best"] == second["best"]
    assert first["batch"].shape[0] == 3
    assert not torch.equal(first["batch"], second["batch"])
    for name, x in first["after"].items():
        assert torch.equal(x, second["after"][name]), name
    changed = [name for name, x in first["after"].items() if not torch.equal(x, first["before"][name])]
    assert any(name.startswith("actor.") for name in changed)
    assert ("bonus.variance" in changed) == (run == "share")
    for rank in (first, second):
        for name, x in rank["whole"].items():
            assert torch.equal(x, rank["resumed"][name]), name


def test_command_prints_once_and_resumes(config, tmp_path):
    """`torchrun -m dact train` prints and writes once, and a run may go from one process to two and back."""
    folder = tmp_path / "run"
    train_command(config, out=folder, segments=1, tensorboard=False)
    done = torchrun("-m", "dact", "train", "--resume", folder, "--no-tensorboard", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["finished"]
    assert done.stderr.count("segment 4") == 1
    assert load_checkpoint(folder / "checkpoint.pt").progress.processes == 2
    alone = train_command(resume=folder, settings=["epochs=4"], tensorboard=False)
    assert alone.progress.segments == 8
    assert math.isfinite(alone.progress.best_cost)


def test_one_process_is_alone():
    """Without torchrun there is nobody to wait for, and everything stays as it is."""
    x = torch.arange(3.0)
    ALONE.all_reduce_mean([x])
    ALONE.broadcast_tensors([x])
    assert x.tolist() == [0, 1, 2]
    assert ALONE.broadcast((1.0, 2.5)) == (1.0, 2.5)
    assert ALONE.all_gather("here") == ["here"]
    assert ALONE.leads
    assert first_process()


def test_processes_without_a_gpu(monkeypatch):
    """More processes than GPUs are refused before they would wait for each other."""
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    with pytest.raises(ValueError, match="4 processes, but there are GPUs for 2"):
        Team.join("cuda", own_gpu=True)


def test_rows_are_divided():
    """A batch is shared out; one that cannot be is refused."""
    assert Team(rank=1, size=4).part_of(600, "rows") == 150
    with pytest.raises(ValueError, match="rows 10 is not a multiple of the 4 processes"):
        Team(size=4).part_of(10, "rows")

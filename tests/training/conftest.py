"""Small configs and learners for the tests of this package."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from dact.problems import PROBLEMS
from dact.training.checkpoint import load_checkpoint
from dact.training.command import TrainingResult, make_trainer, train_command
from dact.training.config import NetworkConfig, TrainConfig, from_dict, to_toml
from dact.training.curriculum import CurriculumConfig
from dact.training.instances import InstanceSource
from dact.training.keeping import CHECKPOINT
from dact.training.learner import PAPERS, Learner
from dact.training.networks import RuntimeConfig, fresh_networks, make_networks
from dact.training.ppo import PpoConfig
from dact.training.recorder import Silence
from dact.training.rollout import Task
from dact.training.trainer import Limits, Trainer

TINY = {
    "name": "tiny",
    "problem": "tsp",
    "size": 6,
    "schedule": {"epochs": 3, "batches": 2, "rows": 4, "horizon": 6},
    "curriculum": {"rate": 0.02},
    "network": {"dim": 16, "layers": 1},
    "ppo": {"segment": 2, "update_epochs": 2, "actor_rate": 1e-3, "critic_rate": 1e-3},
    "validation": {"count": 4, "steps": 5, "every_batches": 2},
    "runtime": {"device": "cpu"},
}
"""Six horizons of three segments, with 0 to 4 warm-up steps, of small networks."""
DUAL = NetworkConfig()


@pytest.fixture(autouse=True, scope="package")
def few_threads():
    """Two threads that wait for each other on busy cores are slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["tsp", "cvrp"])
def problem_name(request) -> str:
    """Every problem in turn."""
    return request.param


@pytest.fixture(scope="session")
def tiny():
    """Builds the tiny config with some fields, or fields of tables, changed."""

    def make(**changes) -> TrainConfig:
        tables = {name: TINY.get(name, {}) | change for name, change in changes.items() if isinstance(change, dict)}
        return from_dict(TINY | changes | tables)

    return make


@pytest.fixture(scope="session")
def train(tiny):
    """Calls the command, with the tiny config where none is given."""

    def call(folder: Path, config: TrainConfig | None = None, **options) -> TrainingResult:
        if options.get("resume") is None:
            path = folder.with_suffix(".toml")
            path.write_text(to_toml(config or tiny()))
            return train_command(path, out=folder, tensorboard=False, **options)
        return train_command(tensorboard=False, **options)

    return call


@pytest.fixture(scope="session")
def trained(train, tmp_path_factory) -> TrainingResult:
    """A whole run of the tiny config, for tests that only look at it."""
    return train(tmp_path_factory.mktemp("trained") / "run")


@pytest.fixture
def in_parts(tmp_path):
    """Trains a config to its end at once, and again with stops after some segments; both must end alike."""

    def check(config: TrainConfig, stops: Sequence[int]) -> None:
        def trainer(name: str) -> Trainer:
            path = tmp_path / name / CHECKPOINT
            checkpoint = load_checkpoint(path) if path.exists() else None
            return make_trainer(config, tmp_path / name, Silence(), checkpoint=checkpoint)

        whole = trainer("whole")
        whole.run(Limits())
        for stop in stops:
            trainer("parts").run(Limits(segments=stop))
        resumed = trainer("parts")
        resumed.run(Limits())
        for name, x in resumed.learner.tensors().items():
            assert torch.equal(x, whole.learner.tensors()[name]), name

    return check


@pytest.fixture
def make_learner():
    """Builds a learner on 8 instances of 6 nodes."""

    def make(
        problem: str = "tsp",
        seed: int = 3,
        size: int = 6,
        rows: int = 8,
        operator="two_opt",
        idle=True,
        tabu=0,
        curriculum: CurriculumConfig = PAPERS,
        network: NetworkConfig = DUAL,
        **ppo,
    ) -> Learner:
        task = Task(problem=PROBLEMS[problem].with_idle_moves(idle), operator=operator, tabu=tabu)
        source = InstanceSource(problem=task.problem, size=size, rows=rows)
        runtime = RuntimeConfig(device="cpu").resolved()
        policy, critic = fresh_networks(network.policy_config(task.problem.features), seed)
        networks = make_networks(policy, critic, runtime, source.length())
        learner = Learner(networks, task, source, PpoConfig(**ppo), seed=seed, graph=False, curriculum=curriculum)
        learner.new_batch()
        return learner

    return make

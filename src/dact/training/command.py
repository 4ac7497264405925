"""A training run from start to finish, for the command line and for scripts."""

import logging
import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path

from dact.cards import BEST
from dact.interrupts import Interrupts
from dact.policy import CriticConfig, Policy, PolicyConfig, adapted, make_critic, starting_weights
from dact.problems import PROBLEMS
from dact.team import ALONE, Team
from dact.threads import one_thread_per_operation
from dact.training.checkpoint import Checkpoint, Progress, load_checkpoint
from dact.training.config import NetworkConfig, TrainConfig, changed, from_dict, load_config, network_of, to_toml
from dact.training.foresight import refuse_beyond_this_machine, refuse_long_segments
from dact.training.guide import guided
from dact.training.instances import InstanceSource
from dact.training.keeping import CHECKPOINT
from dact.training.learner import Learner, stream
from dact.training.networks import Networks, fresh_networks, make_networks
from dact.training.recorder import Recorder, Silence, Watch
from dact.training.rollout import Task
from dact.training.trainer import Limits, Trainer
from dact.training.validation import Validation

log = logging.getLogger(__name__)
FIXED = (
    *("problem", "size", "sizes", "schedule.rows", "ppo.smoothing", "ppo.entropy_share", "ppo.group"),
    *("seed", "schedule.horizon", "ppo.segment", "curriculum.horizons", "curriculum.ages"),
    *("operator", "idle_moves", "tabu"),
    *(f"validation.{name}" for name in ("file", "count", "seed", "steps", "patience")),
)
"""Settings that cannot change when a run is resumed, besides networks, instances and the guide: they fix tensors,
units of progress, or how the best costs were measured."""


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """State of a run at the end of a call."""

    folder: Path
    weights: Path | None
    """File of the best weights, if the run has any that are better than its initial ones."""
    progress: Progress
    segments: int
    """Segments trained in this call."""
    finished: bool
    """The schedule is complete; otherwise the run can be resumed."""
    interrupted: bool
    validation_seconds: float | None = None
    """Duration of a validation on this machine, if known."""


def train_command(
    config: Path | None = None,
    *,
    minutes: float | None = None,
    resume: Path | None = None,
    init: str | None = None,
    out: Path | None = None,
    settings: Sequence[str] = (),
    segments: int | None = None,
    tensorboard: bool = True,
    watch: Watch | None = None,
) -> TrainingResult:
    """Start a run from a config file, or resume the run in a folder.

    `minutes` and `segments` limit this call (set-up and compilation count), `init` names initial weights, `settings`
    are `key=value` changes, and `watch` is called with a `Report` for every reading. Time is reserved for a last
    validation; validations that would take too much of `minutes` are skipped.
    """
    started = time.perf_counter()
    deadline = math.inf if minutes is None else started + 60 * minutes
    most = math.inf if segments is None else segments
    checkpoint = None if resume is None else load_checkpoint(resume / CHECKPOINT)
    settled = _settled(config, checkpoint, settings)
    folder = resume or out or Path("runs") / settled.name
    if resume is None:
        refuse_taken(folder)
    device = settled.runtime.resolved().device
    team = Team.join(device, own_gpu=True)
    try:
        trainer = make_trainer(settled, folder, Silence(), checkpoint=checkpoint, init=init, team=team)
        if device == "cpu":
            refuse_long_segments(trainer.learner, begun=checkpoint is not None)
        if team.leads:
            # Nothing is written before all settings are known to be valid.
            trainer.recorder = _recorder(trainer, watch, tensorboard)
        begun = trainer.progress.segments
        trainer.progress.total_seconds += team.size * (time.perf_counter() - started)
        # Under torchrun one Ctrl-C arrives twice, from the terminal and from torchrun, which kills processes that do
        # not end.
        interrupts = Interrupts(patient=team.connected)
        with interrupts, one_thread_per_operation() if device == "cpu" else nullcontext():
            finished = trainer.run(Limits(deadline=deadline, segments=most, stop=lambda: interrupts.asked))
    finally:
        team.leave()
    best = folder / BEST
    return TrainingResult(
        folder=folder,
        weights=best if best.exists() else None,
        progress=trainer.progress,
        segments=trainer.progress.segments - begun,
        finished=finished,
        interrupted=interrupts.asked,
        validation_seconds=trainer.examiner.takes,
    )


def refuse_taken(folder: Path) -> None:
    """Refuse a folder that already holds a run or its weights."""
    if (folder / CHECKPOINT).exists():
        raise ValueError(f"{folder} holds a run already: go on with --resume {folder}, or choose another --out")
    if (folder / BEST).exists():
        raise ValueError(f"{folder} holds the weights of another run ({BEST}): choose another --out, or move them")


def make_trainer(
    config: TrainConfig,
    folder: Path,
    recorder: Silence,
    *,
    checkpoint: Checkpoint | None = None,
    init: str | None = None,
    team: Team = ALONE,
) -> Trainer:
    """Build the trainer of a run on its device, CUDA graphs included."""
    runtime = config.runtime.resolved()
    task = Task(problem=config.searched_problem(), operator=config.operator, tabu=config.tabu)
    copies = config.ppo.group or 1
    name = f"schedule.rows over ppo.group {copies}:" if config.ppo.group else "schedule.rows"
    rows = copies * team.part_of(config.schedule.rows // copies, name)
    source = InstanceSource(
        problem=task.problem, size=config.size, rows=rows, config=config.instances, sizes=config.sizes
    )
    length = source.length()
    if runtime.device == "cpu":
        refuse_beyond_this_machine(config, rows, length)
    networks = _networks(config, checkpoint, init, length)
    # Settings of the networks come from the initial weights, so that config and card describe what is trained.
    config = replace(config, critic=networks.policy.config.critic_config)
    graph = runtime.graph == "true"
    # Beside the streams of the learner: every process solves instances of its own.
    solver = stream(config.seed, -1 - team.rank, networks.device)
    learner = Learner(
        networks,
        task,
        guided(source, config.guide, solver),
        config.ppo,
        seed=config.seed,
        graph=graph,
        curriculum=config.curriculum,
        team=team,
    )
    validation = Validation(networks, task, source, config.validation) if team.leads else None
    trainer = Trainer(config, learner, validation, recorder, folder)
    if checkpoint is not None:
        trainer.resume(checkpoint)
    elif networks.origin is not None:
        trainer.progress.started_from, trainer.progress.start_minutes = networks.origin
    team.broadcast_tensors(learner.learnt().values())
    return trainer


def _recorder(trainer: Trainer, watch: Watch | None, tensorboard: bool) -> Recorder:
    recorder = Recorder(trainer.folder, watch, tensorboard)
    recorder.rewind(trainer.progress.segments - trainer.progress.unseen if trainer.progress.start_seen else -1)
    path = trainer.folder / "config.toml"
    try:
        path.write_text(to_toml(trainer.config))
    except OSError as error:
        raise ValueError(f"{path}: cannot be written ({error.strerror})") from error
    return recorder


def _settled(config: Path | None, checkpoint: Checkpoint | None, settings: Sequence[str]) -> TrainConfig:
    if checkpoint is not None:
        if config is not None:
            raise ValueError("a run that goes on has its config already: change it with key=value settings")
        settled = from_dict(changed(checkpoint.config, settings))
        _refuse_changes(from_dict(checkpoint.config), settled)
        return settled
    if config is None:
        raise ValueError("a config file is needed, or a run to go on with")
    settled = load_config(config, settings)
    if settled.validation.file:
        # A run may be resumed from another working directory.
        file = str(Path(settled.validation.file).absolute())
        settled = replace(settled, validation=replace(settled.validation, file=file))
    return settled


def _refuse_changes(before: TrainConfig, after: TrainConfig) -> None:
    tables = ("network", "critic", "instances", "guide")
    whole = (f"{table}.{each.name}" for table in tables for each in fields(getattr(after, table)))
    for path in (*FIXED, *whole):
        was, wanted = (attrgetter(path)(config) for config in (before, after))
        if path == "validation.file" and Path(was).name == Path(wanted).name:
            continue  # may have moved
        if was != wanted:
            raise ValueError(f"setting '{path}' of a run that goes on cannot change from {was} to {wanted}")


def _refuse_other_networks(name: str, known: NetworkConfig, wanted: NetworkConfig) -> None:
    for each in fields(known):
        has, asked = getattr(known, each.name), getattr(wanted, each.name)
        if has != asked:
            raise ValueError(f"setting 'network.{each.name}' is {asked}, but the weights {name} have {has}")


def _say_what_stays(name: str, asked: CriticConfig, has: CriticConfig) -> None:
    """Log options of the critic that stay as the initial weights have them."""
    for each in fields(asked):
        if getattr(asked, each.name) != getattr(has, each.name):
            log.info("critic.%s stays %s, as %s has it", each.name, getattr(has, each.name), name)


def _networks(config: TrainConfig, checkpoint: Checkpoint | None, init: str | None, length: int) -> Networks:
    """Networks by a checkpoint's config (its tensors are loaded later), from weights, or random."""
    problem, origin = PROBLEMS[config.problem], None
    if checkpoint is not None:
        policy = Policy(PolicyConfig.from_dict(checkpoint.policy))
        critic = make_critic(policy.config)
    elif init is not None:
        weights = starting_weights(problem.name, problem.features, config.size, init)
        log.info("starting from %s", init)
        policy, origin = weights.policy, (init, weights.card.gpu_minutes)
        _refuse_other_networks(init, network_of(policy.config), config.network)
        if config.fresh_critic:
            policy.config = replace(policy.config, critic_config=config.critic)
            _, critic = fresh_networks(policy.config, config.seed)
        else:
            critic = adapted(policy, weights.critic, config.critic)
            _say_what_stays(init, config.critic, policy.config.critic_config)
    else:
        policy, critic = fresh_networks(config.network.policy_config(problem.features, config.critic), config.seed)
    return make_networks(policy, critic, config.runtime.resolved(), length, origin)

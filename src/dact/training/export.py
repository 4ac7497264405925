"""Trained weights for everybody else: a .safetensors file with a card that says what they are."""

import datetime
from dataclasses import replace
from pathlib import Path

from dact.policy import Card, Weights, save_weights
from dact.provenance import commit
from dact.training.checkpoint import Progress
from dact.training.config import TrainConfig
from dact.training.networks import Networks


def export_weights(path: Path, config: TrainConfig, networks: Networks, progress: Progress) -> None:
    """Write actor and critic as they are now."""
    save_weights(path, Weights(policy=networks.policy, critic=networks.critic, card=make_card(config, progress)))


def make_card(config: TrainConfig, progress: Progress) -> Card:
    """What is known about the weights of a run at this moment."""
    validation = config.validation
    source, steps = Path(validation.file).name or "generated", f"T={validation.steps}, greedy"
    compared = f"{source}, {progress.best_compared} instances, {steps}"
    # Each process of a team has a GPU of its own.
    minutes = progress.total_seconds / 60 if config.runtime.resolved().device == "cuda" else 0.0
    return Card(
        name=config.name,
        problem=config.problem,
        size=config.size,
        note=f"{progress.segments} segments of {config.ppo.segment} steps on {config.schedule.rows} instances, "
        f"validation cost {progress.best_cost:.4f} ({source}, {validation.count} instances, {steps})",
        created=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        gpu_minutes=round(progress.start_minutes + minutes, 1),
        gaps={} if progress.best_gap is None else {compared: round(progress.best_gap, 4)},
        started_from=progress.started_from,
        training=replace(config, validation=replace(validation, file=Path(validation.file).name)).to_dict(),
    )

"""Training: n-step PPO with a curriculum (Appendix C). `train_command` runs a config; the rest are its parts."""

from dact.kernels.ppo_loss import n_step_returns
from dact.training.command import TrainingResult, make_trainer, train_command
from dact.training.config import TrainConfig, load_config
from dact.training.curriculum import ScheduleConfig
from dact.training.keeping import CHECKPOINT
from dact.training.networks import RuntimeConfig
from dact.training.ppo import PpoConfig, evaluate_segment, update
from dact.training.recorder import Report, Watch
from dact.training.rollout import Segment, Task, rollout
from dact.training.trainer import Trainer

__all__ = [
    "CHECKPOINT",
    "PpoConfig",
    "Report",
    "RuntimeConfig",
    "ScheduleConfig",
    "Segment",
    "Task",
    "TrainConfig",
    "Trainer",
    "TrainingResult",
    "Watch",
    "evaluate_segment",
    "load_config",
    "make_trainer",
    "n_step_returns",
    "rollout",
    "train_command",
    "update",
]

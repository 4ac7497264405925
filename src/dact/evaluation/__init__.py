"""How good a search is on a set of instances: sharded, shared between processes, continued after an interruption."""

from dact.evaluation.blocks import EmptyShardError, Progress
from dact.evaluation.evaluate import Evaluation, evaluate

__all__ = ["EmptyShardError", "Evaluation", "Progress", "evaluate"]

"""How good a search is on a set of instances: sharded, shared between processes, continued after an interruption."""

from dact.evaluation.evaluate import Evaluation, Progress, evaluate

__all__ = ["Evaluation", "Progress", "evaluate"]

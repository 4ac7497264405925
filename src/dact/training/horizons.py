"""What a horizon begins with: the paper's curriculum, or rows of all ages."""

from dact.training.checkpoint import Progress
from dact.training.curriculum import CurriculumConfig, warm_up_steps
from dact.training.learner import Learner


def begin_horizon(learner: Learner, config: CurriculumConfig, horizon: int, progress: Progress) -> None:
    """Instances and solutions to train from, for the horizon of this number, from 0."""
    batch, again = divmod(horizon, config.horizons)
    learner.choose(batch)
    if config.ages:
        _go_on(learner, config, first=batch < len(learner.lanes) and not again)
    elif again:
        learner.back_to_best()
    else:
        progress.warm_up = warm_up_steps(config, progress.horizon_progress)
        _warm_up(learner, config, progress.warm_up)


def _warm_up(learner: Learner, config: CurriculumConfig, steps: int) -> None:
    """New instances, and their solutions after so many steps."""
    learner.new_batch()
    learner.warm_up(steps)
    if config.start == "best":
        learner.back_to_best()
    else:
        learner.from_here()


def _go_on(learner: Learner, config: CurriculumConfig, *, first: bool) -> None:
    """The same rows, from their best or from where they are. They are replaced one by one, from now on by others."""
    if first:
        learner.new_batch()
        return
    if config.start == "best":
        learner.back_to_best()
    learner.refill()

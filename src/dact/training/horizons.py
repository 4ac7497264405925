"""Instances and solutions at the start of a horizon: by the paper's curriculum, or with rows of all ages."""

from collections.abc import Callable

from dact.training.checkpoint import Progress
from dact.training.curriculum import CurriculumConfig, warm_up_steps
from dact.training.learner import Learner


def begin_horizon(
    learner: Learner, config: CurriculumConfig, horizon: int, progress: Progress, stop: Callable[[], bool]
) -> bool:
    """Prepare the learner for a horizon (counted from 0). False if interrupted by `stop`; calling again repeats the
    same draws.
    """
    batch, again = divmod(horizon, config.horizons)
    learner.choose(batch)
    if again and not config.ages:
        learner.back_to_best()
        return True
    progress.warm_up = warm_up_steps(config, progress.horizon_progress)
    draws = learner.generator.get_state()
    if config.ages:
        begun = _go_on(learner, config, progress.warm_up, stop, first=batch < len(learner.lanes) and not again)
    else:
        begun = _warm_up(learner, config, progress.warm_up, stop)
    if not begun:
        learner.generator.set_state(draws)
    return begun


def _warm_up(learner: Learner, config: CurriculumConfig, steps: int, stop: Callable[[], bool]) -> bool:
    """Draw new instances and make warm-up steps; False if interrupted."""
    learner.new_batch()
    if not learner.warm_up(steps, stop):
        return False
    if config.start == "best":
        learner.back_to_best()
    else:
        learner.from_here()
    return True


def _go_on(learner: Learner, config: CurriculumConfig, steps: int, stop: Callable[[], bool], *, first: bool) -> bool:
    """Continue with the same rows, from their best or current solutions, and draw the instances that will replace
    them one by one, after warm-up steps. False if interrupted.
    """
    if first:
        learner.new_batch()
        if not learner.warm_up(steps, stop):
            return False
    elif config.start == "best":
        learner.back_to_best()
    return learner.refill(steps, stop)

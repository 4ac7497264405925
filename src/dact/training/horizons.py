"""Instances and solutions at the start of a horizon: by the paper's curriculum, or with rows of all ages."""

from collections.abc import Callable

from dact.training.checkpoint import Progress
from dact.training.curriculum import CurriculumConfig, warm_up_steps
from dact.training.learner import Learner

ROWS, FRESH = "rows", "fresh"


def begin_horizon(
    learner: Learner, config: CurriculumConfig, horizon: int, progress: Progress, stop: Callable[[], bool]
) -> bool:
    """Prepare the learner for a horizon (counted from 0).

    `stop` is called between warm-up steps, where a checkpoint may be written. False if it returned True: calling again
    continues the warm-up, whose state is in `progress`.
    """
    batch, again = divmod(horizon, config.horizons)
    learner.choose(batch)
    if again and not config.ages:
        learner.back_to_best()
        return True
    if not progress.walking:
        progress.warm_up = warm_up_steps(config, progress.horizon_progress)
        _begin(learner, config, progress, first=batch < len(learner.lanes) and not again)
    if progress.walking == ROWS:
        if not _walk(learner.warm_up, learner.stride, progress, stop):
            return False
        _end(learner, config, progress)
    if progress.walking == FRESH and not _walk(learner.warm_up_fresh, learner.stride, progress, stop):
        return False
    progress.walking, progress.walked = "", 0
    return True


def _begin(learner: Learner, config: CurriculumConfig, progress: Progress, *, first: bool) -> None:
    """Draw new instances. With rows of all ages, these are the instances that will replace the rows one by one."""
    if first or not config.ages:
        learner.new_batch()
        progress.walking = ROWS
        return
    if config.start == "best":
        learner.back_to_best()
    learner.refill()
    progress.walking = FRESH


def _end(learner: Learner, config: CurriculumConfig, progress: Progress) -> None:
    """The warm-up of the rows is over."""
    if config.ages:
        learner.refill()
        progress.walking, progress.walked = FRESH, 0
    elif config.start == "best":
        learner.back_to_best()
    else:
        learner.from_here()


def _walk(warm_up: Callable[[int], None], stride: int, progress: Progress, stop: Callable[[], bool]) -> bool:
    """Make the remaining warm-up steps; False if interrupted."""
    while progress.walked < progress.warm_up:
        if stop():
            return False
        steps = min(stride, progress.warm_up - progress.walked)
        warm_up(steps)
        progress.walked += steps
    return True

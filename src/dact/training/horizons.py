"""What a horizon begins with: the paper's curriculum, or rows of all ages."""

from collections.abc import Callable

from dact.training.checkpoint import Progress
from dact.training.curriculum import CurriculumConfig, warm_up_steps
from dact.training.learner import Learner


def begin_horizon(
    learner: Learner, config: CurriculumConfig, horizon: int, progress: Progress, stop: Callable[[], bool]
) -> bool:
    """Instances and solutions to train from, for the horizon of this number, from 0.

    False if `stop` came true meanwhile: then it can be begun again, with the same draws.
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
    """New instances, and their solutions after so many steps; False if stopped on the way."""
    learner.new_batch()
    if not learner.warm_up(steps, stop):
        return False
    if config.start == "best":
        learner.back_to_best()
    else:
        learner.from_here()
    return True


def _go_on(learner: Learner, config: CurriculumConfig, steps: int, stop: Callable[[], bool], *, first: bool) -> bool:
    """The same rows, from their best or from where they are. They are replaced one by one, from now on by others.

    Rows that are new have made the warm-up's steps; False if stopped on the way.
    """
    if first:
        learner.new_batch()
        if not learner.warm_up(steps, stop):
            return False
    elif config.start == "best":
        learner.back_to_best()
    return learner.refill(steps, stop)

"""Schedules by progress."""

import math

import pytest

from dact.training.curriculum import CurriculumConfig, ScheduleConfig, rate_factor, too_few_horizons, warm_up_steps


def test_warm_up_steps_as_in_algorithm_1():
    """Nothing at first, half of xi * E in the middle, all of it at the end, and the formula in between."""
    config = CurriculumConfig(rate=2, sharpness=0.2)
    assert [warm_up_steps(config, progress) for progress in (0, 0.5, 1)] == [0, 200, 400]

    def sigmoid(epoch):
        return 1 / (1 + math.exp(-0.2 * (epoch - 100)))

    expected = (sigmoid(90) - sigmoid(0)) / (sigmoid(200) - sigmoid(0)) * 2 * 200
    assert warm_up_steps(config, 0.45) == round(expected)


@pytest.mark.parametrize(("rate", "steps"), [(0.25, 50), (2, 400), (10, 2000), (1, 200), (4, 800), (12.5, 2500)])
def test_the_last_epoch_has_all_warm_up_steps(rate, steps):
    """From its first batch on, with the paper's 200 epochs of 20 batches."""
    config, schedule = CurriculumConfig(rate=rate, sharpness=0.2), ScheduleConfig()
    assert [warm_up_steps(config, schedule.progress(batch, 0)) for batch in (3980, 3999)] == [steps, steps]


def test_a_curriculum_begun_before():
    """A run that goes on from trained weights begins where its config says and ends as any other."""
    config = CurriculumConfig(rate=2, sharpness=0.2, begin=0.5)
    assert [warm_up_steps(config, progress) for progress in (0, 1)] == [200, 400]
    assert warm_up_steps(config, 0.5) == warm_up_steps(CurriculumConfig(rate=2, sharpness=0.2), 0.75)


def test_a_blunt_curriculum_grows_earlier():
    """With the authors' sharpness of 0.02 the warm-up has begun at a quarter of the training."""
    assert warm_up_steps(CurriculumConfig(rate=10, sharpness=0.02), 0.25) > 300
    assert warm_up_steps(CurriculumConfig(rate=10, sharpness=0.2), 0.25) < 5
    assert warm_up_steps(CurriculumConfig(rate=10, sharpness=100.0), 0.25) == 0


def test_rate_decays_per_epoch():
    """After half the training the rate has been decayed a hundred times."""
    assert rate_factor(ScheduleConfig(), 0.0) == 1
    assert rate_factor(ScheduleConfig(), 0.5) == pytest.approx(0.985**100)
    assert rate_factor(ScheduleConfig(rate_warm_up=0.1, decay=1), 0.05) == pytest.approx(0.55)


def test_progress_by_updates_or_by_minutes():
    """Batches done over batches planned, unless minutes are set; never above 1."""
    assert ScheduleConfig(epochs=10, batches=5).progress(25, 1e9) == 0.5
    assert ScheduleConfig(schedule_minutes=4).progress(1e9, 1) == 0.25
    assert ScheduleConfig(schedule_minutes=4).progress(0, 9) == 1


def test_advice_for_slow_machines():
    """Where a schedule by minutes holds fewer than ten horizons: rows with which there would be ten."""
    schedule = ScheduleConfig(schedule_minutes=10, rows=600)
    assert too_few_horizons(schedule, 50, 1.0) == ""
    said = too_few_horizons(schedule, 50, 6.0)
    assert "10 minutes of schedule are about 2 horizons of 50 segments" in said
    assert "--set rows=120" in said
    assert too_few_horizons(ScheduleConfig(), 50, 1000.0) == ""


@pytest.mark.parametrize(
    ("kind", "settings", "named"),
    [
        (CurriculumConfig, {"rate": -1}, "curriculum.rate -1"),
        (CurriculumConfig, {"begin": 1.5}, "curriculum.begin 1.5"),
        (CurriculumConfig, {"start": "worst"}, "curriculum.start 'worst'"),
        (CurriculumConfig, {"horizons": 0}, "curriculum.horizons 0"),
        (CurriculumConfig, {"sharpness": 0}, "curriculum.sharpness 0"),
        (ScheduleConfig, {"rows": 0}, "schedule.rows is 0"),
        (ScheduleConfig, {"schedule_minutes": -1}, "schedule.schedule_minutes -1"),
        (ScheduleConfig, {"rate_warm_up": 1}, "schedule.rate_warm_up 1"),
        (ScheduleConfig, {"critic_first": 1.5}, "schedule.critic_first 1.5"),
    ],
)
def test_wrong_settings_are_named(kind, settings, named):
    """The error names the setting and its value."""
    with pytest.raises(ValueError, match=named):
        kind(**settings)

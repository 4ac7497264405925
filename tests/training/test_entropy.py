"""A bonus for entropy that is a share of the deviation of advantages."""

import math

import pytest
import torch
from tables import rows

from dact.kernels.ppo_loss import NetworkOutputs, Rewards
from dact.training.buffers import snapshot
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer
from dact.training.entropy import MEMORY, EntropyBonus
from dact.training.keeping import CHECKPOINT
from dact.training.ppo import PpoConfig, update
from dact.training.recorder import Silence
from dact.training.rollout import rollout
from dact.training.trainer import Limits

SHARE = 0.02
CPU = torch.device("cpu")


def outputs(value_TB) -> NetworkOutputs:
    """What networks say that value states so."""
    value_TB = torch.as_tensor(value_TB)
    return NetworkOutputs(torch.zeros_like(value_TB), torch.zeros_like(value_TB), value_TB)


def one_step(*rewards: float, weights: tuple[float, ...] | None = None) -> Rewards:
    """A segment of one step, with nothing behind it."""
    weight_B = torch.ones(len(rewards)) if weights is None else torch.tensor(weights)
    return Rewards(torch.tensor([rewards]), torch.zeros(len(rewards)), weight_B)


def watched(*segments: Rewards, share: float = SHARE, average=None) -> EntropyBonus:
    """After some segments, with a critic that says 0."""
    bonus = EntropyBonus(share, CPU, average)
    for each in segments:
        bonus.watch(outputs(torch.zeros_like(each.reward_TB)), each, 0.9)
    return bonus


def record(learner):
    """A segment from where the learner stands."""
    buffers = learner.buffers
    return rollout(learner.engine, learner.task, buffers.batch, buffers.state, 4)[1]


def test_the_bonus_by_hand():
    """Two steps of two rows: returns from the rewards and the value behind, less the values, and their deviation."""
    bonus = EntropyBonus(0.5, CPU)
    assert bonus.value == 0
    rewards = Rewards(torch.tensor([[1.0, 0.0], [2.0, 0.0]]), torch.tensor([10.0, 0.0]), torch.ones(2))
    # Returns 1 + 0.5 * 7 = 4.5 and 2 + 0.5 * 10 = 7, and 0 and 0; advantages 4, 6, -1, 0 with a mean of 2.25.
    bonus.watch(outputs([[0.5, 1.0], [1.0, 0.0]]), rewards, 0.5)
    squares = [(advantage - 2.25) ** 2 for advantage in (4, 6, -1, 0)]
    assert bonus.value.item() == pytest.approx(0.5 * math.sqrt(sum(squares) / 3))


def test_rows_count_by_their_weights():
    """Rows that were sampled stand for others: a row of weight 3 is three rows."""
    weighted = watched(one_step(1.0, 5.0, weights=(1.5, 0.5)))
    # The mean is (1.5 * 1 + 0.5 * 5) / 2 = 2, as of 1, 1, 1, 5.
    assert weighted.variance.item() == pytest.approx(1.5 * 1 + 0.5 * 9)


def test_the_running_variance():
    """All segments count alike until there are fifty, and then a new one counts a fiftieth."""
    few = watched(one_step(1.0, -1.0), one_step(2.0, -2.0), one_step(0.0, 0.0))
    assert few.variance.item() == pytest.approx((2 + 8 + 0) / 3)
    many = watched(*[one_step(1.0, -1.0)] * 300, one_step(11.0, -11.0))
    assert many.variance.item() == pytest.approx(2 * MEMORY + 242 * (1 - MEMORY))


def test_processes_agree():
    """The variance that is counted in is the mean over processes, of this one and one with four times as much."""

    def average(tensors):
        for x in tensors:
            x *= 2.5

    assert watched(one_step(1.0, -1.0), average=average).variance.item() == pytest.approx(5)


@pytest.mark.parametrize("spoiled", [math.nan, math.inf])
def test_what_is_not_finite_is_left_out(spoiled):
    """Its update is skipped, and later segments have the bonus that they would have had; also at the start."""
    good, bad = one_step(1.0, -1.0), one_step(spoiled, 0.0)
    assert watched(bad).value == 0
    for segments in ((bad, good), (good, bad)):
        bonus = watched(*segments)
        assert (bonus.variance, bonus.segments) == (2, 1)


@pytest.mark.parametrize("options", [{}, {"share": 0.5}, {"group": 4}])
def test_an_update_uses_it(make_learner, problem_name, options):
    """The weights after a segment are those of a fixed bonus of the share times the deviation."""
    share = make_learner(problem_name, entropy_share=SHARE, **options)
    share.optimiser.set_rates(1e-3, 1e-3)
    share.segment()
    used = share.bonus.value.item()
    assert share.read_metrics()["entropy_bonus"] == used > 0
    fixed, without = (make_learner(problem_name, entropy_bonus=bonus, **options) for bonus in (used, 0.0))
    for learner in (fixed, without):
        learner.optimiser.set_rates(1e-3, 1e-3)
        learner.segment()
    ends = [
        torch.cat([x.flatten() for x in learner.networks.policy.parameters()]) for learner in (share, fixed, without)
    ]
    torch.testing.assert_close(ends[0], ends[1])
    assert not torch.allclose(ends[0], ends[2], rtol=1e-4)


def test_it_is_of_the_first_epoch(make_learner):
    """Further epochs of an update see the advantages of a critic that knows the segment, and do not count."""
    variances = []
    for epochs in (1, 3):
        learner = make_learner(entropy_share=SHARE, update_epochs=epochs)
        learner.optimiser.set_rates(1e-2, 1e-2)
        learner.segment()
        assert learner.bonus.segments == 1
        variances.append(learner.bonus.variance.item())
    assert variances[0] == variances[1] > 0


def test_a_spoiled_segment_changes_nothing(make_learner):
    """Neither weights nor the running variance."""
    learner = make_learner(entropy_share=SHARE)
    learner.optimiser.set_rates(1e-3, 1e-3)
    learner.segment()
    before, segment = snapshot(learner.learnt()), record(learner)
    segment.reward_TB[0, 0] = torch.nan
    update(learner.networks, segment, learner.optimiser, learner.config, learner.bonus)
    assert "bonus.variance" in before
    for name, x in learner.learnt().items():
        assert torch.equal(before[name], x), name


def test_off_by_default(tiny, make_learner, trained):
    """Nothing is watched or kept, and the table of metrics says the fixed bonus, which is none."""
    assert tiny().ppo.entropy_share == 0
    learner = make_learner(entropy_bonus=1e-3)
    assert learner.bonus is None
    assert not [name for name in learner.tensors() if name.startswith("bonus")]
    assert learner.read_metrics()["entropy_bonus"] == 1e-3
    assert {row["entropy_bonus"] for row in rows(trained.folder) if row["reward"]} == {"0"}


def test_stopped_and_resumed(tmp_path, tiny):
    """A run that was stopped, also within a horizon, ends as if it had not been."""
    config = tiny(ppo={"segment": 2, "entropy_share": SHARE}, validation={"collapse": 1e-9})

    def make(name: str):
        path = tmp_path / name / CHECKPOINT
        checkpoint = load_checkpoint(path) if path.exists() else None
        return make_trainer(config, tmp_path / name, Silence(), checkpoint=checkpoint)

    whole = make("whole")
    whole.run(Limits())
    for stop in (1, 4, math.inf):
        resumed = make("parts")
        resumed.run(Limits(segments=stop))
    expected = whole.learner.tensors()
    assert expected["bonus.variance"] > 0
    assert all(torch.equal(x, expected[name]) for name, x in resumed.learner.tensors().items())
    assert torch.equal(resumed.best.tensors["bonus.variance"], whole.best.tensors["bonus.variance"])


def test_the_table_of_metrics(tmp_path, tiny, train):
    """It has the bonus at every reading. A run from before there was the column goes on."""
    folder = tmp_path / "run"
    train(folder, tiny(ppo={"segment": 2, "entropy_share": SHARE}), segments=6)
    assert all(float(row["entropy_bonus"]) > 0 for row in rows(folder) if row["reward"])

    table = folder / "metrics.csv"
    lines = [line.split(",") for line in table.read_text().splitlines()]
    place = lines[0].index("entropy_bonus")
    table.write_text("\n".join(",".join(line[:place] + line[place + 1 :]) for line in lines) + "\n")
    train(folder, resume=folder, segments=12)
    assert [bool(row["entropy_bonus"]) for row in rows(folder) if row["reward"]] == [False, False, True, True]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"entropy_share": -0.1}, r"ppo\.entropy_share -0\.1 is not at least 0 and below 1"),
        ({"entropy_share": 1.0}, r"ppo\.entropy_share 1\.0 is not"),
        (
            {"entropy_share": 0.01, "entropy_bonus": 1e-4},
            r"ppo\.entropy_share 0\.01 goes with ppo\.entropy_bonus = 0, not 0\.0001",
        ),
        (
            {"entropy_share": 0.01, "normalise_advantage": True},
            r"ppo\.entropy_share 0\.01 goes with ppo\.normalise_advantage = false",
        ),
        (
            {"entropy_share": 0.01, "group": 4, "scale": "group"},
            r"ppo\.entropy_share 0\.01 goes with ppo\.scale = none: where advantages are divided",
        ),
    ],
)
def test_wrong_settings_are_named(settings, named):
    """The error names the setting, its value, and what it does not go with."""
    with pytest.raises(ValueError, match=named):
        PpoConfig(**settings)

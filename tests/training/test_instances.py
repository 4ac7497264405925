"""Training on instances that are not uniform."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from dact.instances import generate_set
from dact.policy import load_weights
from dact.problems import PROBLEMS, InstanceConfig
from dact.training import train_command
from dact.training.command import make_trainer
from dact.training.config import from_dict, to_toml
from dact.training.instances import InstanceSource
from dact.training.recorder import Silence
from dact.training.validation import ValidationConfig, validation_batches

CONFIG = {
    "name": "general",
    "size": 8,
    "schedule": {"epochs": 1, "batches": 2, "rows": 4, "horizon": 4},
    "ppo": {"segment": 2},
    "validation": {"count": 4, "steps": 3, "every_batches": 1},
    "runtime": {"device": "cpu"},
}
BANDS = {"nodes": "any", "capacity": "routes", "bands": 3, "route_low": 2.0, "route_mode": 2.5, "route_high": 7.0}
X_LIKE = {"nodes": "any", "depot": "any", "demand": "any", "capacity": "routes"}


@pytest.mark.parametrize(("problem", "instances"), [("tsp", {"nodes": "any"}), ("cvrp", X_LIKE)])
def test_training_on_other_instances(tmp_path, problem, instances):
    """A run on other instances trains, validates, and can go on from its own config."""
    path = tmp_path / "general.toml"
    path.write_text(to_toml(from_dict(CONFIG | {"problem": problem, "instances": instances})))
    run = train_command(path, out=tmp_path / "run", segments=2, tensorboard=False)
    assert math.isfinite(run.progress.best_cost)
    assert train_command(resume=run.folder, tensorboard=False).finished


def test_vehicles_are_refused_for_tsp(tmp_path):
    """Settings that do not fit the problem are named before anything is trained."""
    path = tmp_path / "general.toml"
    path.write_text(to_toml(from_dict(CONFIG | {"problem": "tsp", "instances": X_LIKE})))
    with pytest.raises(ValueError, match="no vehicles"):
        train_command(path, out=tmp_path / "run", tensorboard=False)


def test_validation_is_of_the_kind_trained_on():
    """Without a file, validation instances come from the training distribution, the same each time."""
    config = InstanceConfig(depot="centre", demand="50-100", capacity="routes")
    source = InstanceSource(problem=PROBLEMS["cvrp"], size=8, rows=2, config=config)
    batches = [validation_batches(source, ValidationConfig(count=5))[0] for _ in range(2)]
    (first, reference), (second, _) = batches
    assert reference is None
    assert first.rows == 5
    assert (first.coordinates_BN2[:, 0] == 0.5).all()
    assert first.demand_BN[:, first.depots :].min() >= 50
    assert torch.equal(first.coordinates_BN2, second.coordinates_BN2)


def test_bands_have_lanes_and_validations_of_their_own(tmp_path, tiny):
    """Every batch has the depots of its band; all bands are measured, and count alike."""
    config = tiny(problem="cvrp", sizes=[6, 7], instances=BANDS, validation={"count": 7, "every_batches": 0})
    trainer = make_trainer(config, tmp_path, Silence())
    learner, validation = trainer.learner, trainer.examiner.validation
    expected = [band.depots(size) for size in (6, 7) for band in config.instances.each_band()]
    assert [lane.buffers.batch.depots for lane in learner.lanes] == expected
    assert len(set(expected)) > 2
    assert sum(name.endswith("batch.coordinates_BN2") for name in learner.own()) == 6
    assert [part.batch.rows for part in validation.parts] == [2, 2, 3]
    assert [part.batch.depots for part in validation.parts] == expected[:3]
    found = [part.search(config.validation.steps, None).costs() for part in validation.parts]
    assert validation.measure().cost == pytest.approx(np.concatenate(found).mean())


def test_an_interrupted_validation_ends(tmp_path, tiny):
    """The parts behind the interruption are not begun, and the time that a validation takes is not guessed anew."""
    config = tiny(problem="cvrp", instances=BANDS, validation={"count": 6, "steps": 40, "every_batches": 0})
    validation = make_trainer(config, tmp_path, Silence()).examiner.validation
    validation.measure()
    before, searched = validation.seconds, []
    for place, part in enumerate(validation.parts):
        engine = part.engine
        object.__setattr__(engine, "prepare", lambda *_, place=place: searched.append(place))
    asked = iter([False, False, True])
    assert validation.measure(lambda: next(asked, True)) is None
    assert searched == [0]
    assert validation.seconds == before


def test_a_run_with_bands_goes_on(tiny, in_parts):
    """A run in parts ends as a whole one."""
    in_parts(tiny(problem="cvrp", sizes=[6, 7], instances=BANDS, validation={"every_batches": 0}), stops=(4, 9))


def test_a_guide_solves_every_band(tmp_path, tiny):
    """Batches of a band draw from its own solved instances."""
    guide = {"weight": 0.01, "instances": 3, "rounds": 2}
    trainer = make_trainer(tiny(problem="cvrp", instances=BANDS, guide=guide), tmp_path, Silence())
    depots = [lane.buffers.batch.depots for lane in trainer.learner.lanes]
    assert depots == [solved.depots for solved in trainer.learner.lanes[0].source.solved.values()]


def test_fewer_validation_instances_than_bands(tmp_path, tiny):
    """Told in a sentence."""
    with pytest.raises(ValueError, match=r"validation.count 2 is below the 3 of instances.bands"):
        make_trainer(tiny(problem="cvrp", instances=BANDS, validation={"count": 2}), tmp_path, Silence())


def test_validation_keeps_the_usual_depots():
    """Tours that are shorter in training are measured at the length that searches have."""
    config = InstanceConfig(most_routes=14)
    source = InstanceSource(problem=PROBLEMS["cvrp"], size=50, rows=2, config=config)
    assert source.length() == 64
    assert validation_batches(source, ValidationConfig(count=3))[0][0].length == 70


@pytest.mark.parametrize("problem_name", sorted(PROBLEMS))
def test_files_that_do_not_fit_are_refused(tmp_path, problem_name):
    """Another problem, another size (a depot does not count), or fewer instances than are to be measured."""
    path = tmp_path / "set.npz"
    generate_set(problem_name, 9, 3, 1).save_npz(path)
    other = next(name for name in PROBLEMS if name != problem_name)

    def batch(problem, size, count):
        source = InstanceSource(problem=PROBLEMS[problem], size=size, rows=1)
        return validation_batches(source, ValidationConfig(file=str(path), count=count))[0]

    assert batch(problem_name, 9, 2)[0].rows == 2
    for wrong, said in (
        ((other, 9, 2), f"set.npz holds {problem_name} instances, but {other} is trained"),
        ((problem_name, 8, 2), "set.npz holds instances of size 9, but size is 8"),
        ((problem_name, 9, 4), "set.npz holds 3 instances, but validation.count is 4"),
    ):
        with pytest.raises(ValueError, match=said):
            batch(*wrong)


def test_a_gap_is_of_the_instances_that_have_references(tmp_path):
    """The mean cost is over all of them; the card says how many were compared."""
    path, config = tmp_path / "set.npz", tmp_path / "run.toml"
    replace(generate_set("tsp", 8, 4, 1), reference_cost=np.array([1.0, 1.0, np.nan, np.nan])).save_npz(path)
    validation = CONFIG["validation"] | {"file": str(path)}
    config.write_text(to_toml(from_dict(CONFIG | {"problem": "tsp", "validation": validation})))
    run = train_command(config, out=tmp_path / "run", tensorboard=False)
    card = load_weights(run.weights).card
    assert run.progress.best_compared == 2
    assert list(card.gaps) == ["set.npz, 2 instances, T=3, greedy"]
    assert "4 instances" in card.note

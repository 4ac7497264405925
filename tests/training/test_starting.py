"""Runs that start from weights, and what weights say about where they come from."""

import math
from dataclasses import replace

import pytest
import torch
from tables import rows

from dact.instances import generate_set
from dact.pipeline import Pipeline, SolveConfig
from dact.policy import load_weights, save_weights
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer, train_command
from dact.training.recorder import Recorder
from dact.training.trainer import Limits


def test_weights_are_kept_and_can_start_a_run(tmp_path, train, trained):
    """The best weights carry a card; a run that starts from them validates as they did."""
    assert trained.weights is not None
    card = load_weights(trained.weights).card
    assert (card.name, card.problem, card.size) == ("tiny", "tsp", 6)
    assert card.training["schedule"]["rows"] == 4
    assert card.created
    assert card.started_from == ""
    again = train(tmp_path / "again", init=str(trained.weights), segments=0)
    assert load_weights(again.weights).card.started_from == str(trained.weights)
    assert float(rows(again.folder)[0]["validation_cost"]) == pytest.approx(trained.progress.best_cost)
    assert again.weights is not None


@pytest.mark.parametrize("hidden", [0, 16, 24])
def test_a_recipe_starts_from_its_own_weights(tmp_path, tiny, train, hidden):
    """Whichever way it says how wide the feed-forward networks are: 16, as everything else, is the default."""
    config = tiny(network={"dim": 16, "layers": 1, "hidden": hidden})
    run = train(tmp_path / "run", config, segments=3)
    assert train(tmp_path / "again", config, init=str(run.weights), segments=0).weights is not None


@pytest.mark.parametrize("idle", [True, False])
def test_weights_are_searched_with_the_moves_they_know(tmp_path, tiny, train, idle):
    """A card says whether idle moves were open in training, and a search does the same."""
    weights = train(tmp_path / "run", tiny(idle_moves=idle), segments=3).weights
    pipeline = Pipeline.build("tsp", 6, SolveConfig(device="cpu", weights=str(weights)))
    assert pipeline.weights.card.idle_moves is idle
    assert pipeline.searcher.problem.idle is idle


def test_weights_are_searched_with_the_depots_they_know(tmp_path, tiny, train):
    """As many as in training, in validation too, and the shipped cvrp50 with its 14."""
    config = tiny(problem="cvrp", size=12, instances={"most_routes": 8})
    assert config.searched_problem().collate_set(generate_set("cvrp", 12, 3, seed=1)).depots == 8
    weights = train(tmp_path / "run", config, segments=3).weights
    for customers, name, depots in ((12, str(weights), 8), (50, "cvrp50", 14), (100, "cvrp100", 20)):
        pipeline = Pipeline.build("cvrp", customers, SolveConfig(device="cpu", weights=name))
        assert pipeline.problem.collate_set(generate_set("cvrp", customers, 3, seed=1)).depots == depots


def test_a_run_keeps_to_its_moves(tmp_path, train):
    """What its best costs were measured with cannot change on the way."""
    run = train(tmp_path / "run", segments=2)
    with pytest.raises(ValueError, match="'idle_moves' of a run that goes on cannot change from True to False"):
        train(tmp_path / "run", resume=run.folder, settings=["idle_moves=false"])


def test_minutes_of_the_weights_before_count(tmp_path, train, trained):
    """A card has the GPU minutes of all that led to the weights."""
    weights, path = load_weights(trained.weights), tmp_path / "before.safetensors"
    save_weights(path, replace(weights, card=replace(weights.card, gpu_minutes=12.5)))
    again = train(tmp_path / "again", init=str(path), segments=0)
    assert load_weights(again.weights).card.gpu_minutes == 12.5


def test_a_start_from_weights_is_kept_however_it_was_reached(tmp_path, tiny, trained):
    """Interrupted in its first validation and resumed, a run still measures its start and goes back to it."""
    weights = trained.weights
    recorder = Recorder(tmp_path, tensorboard=False)
    trainer = make_trainer(tiny(), tmp_path, recorder, init=str(weights))
    trainer.run(Limits(stop=lambda: True))
    assert not (tmp_path / "best.safetensors").exists()
    again = make_trainer(tiny(), tmp_path, recorder, checkpoint=load_checkpoint(tmp_path / "checkpoint.pt"))
    again.run(Limits(segments=0))
    assert again.progress.judged_cost == again.progress.best_cost < math.inf
    kept = load_weights(tmp_path / "best.safetensors").policy.state_dict()
    assert all(torch.equal(x, kept[name]) for name, x in load_weights(weights).policy.state_dict().items())


def test_what_cannot_change_is_refused(tmp_path, tiny, train):
    """Other networks than the weights', or than those of the run, are one sentence, and nothing is written."""
    run = train(tmp_path / "run", segments=2)
    before = (run.folder / "config.toml").read_text()
    shapes = ("norm=layer", "incumbent=true", "rows=8", "smoothing=0.9", "entropy_share=0.02", "size=7")
    counted = ("segment=3", "horizon=4", "curriculum.horizons=2", "seed=2")
    measured = ("count=3", "validation.steps=4", "validation.seed=2", "patience=9", "file=x.npz", "nodes=mixed")
    for setting in (*shapes, *counted, *measured, "operator=swap"):
        with pytest.raises(ValueError, match=r"setting '.*' of a run that goes on cannot change from .* to "):
            train_command(resume=run.folder, settings=[setting], tensorboard=False)
    assert (run.folder / "config.toml").read_text() == before
    with pytest.raises(ValueError, match=r"'network.norm' is layer, but the weights .* have instance"):
        train(tmp_path / "other", tiny(network={"norm": "layer"}), init=str(run.weights))
    with pytest.raises(ValueError, match="gone"):
        train(tmp_path / "other", init="gone")
    assert not (tmp_path / "other").exists()


def test_a_config_says_what_the_critic_is(tmp_path, tiny, train):
    """One that has learnt to see the incumbent goes on seeing it, and the config of the new run says so."""
    seeing = train(tmp_path / "seeing", tiny(critic={"incumbent": True}), segments=2)
    again = train(tmp_path / "again", init=str(seeing.weights), segments=2)
    assert load_weights(again.weights).card.training["critic"]["incumbent"]
    assert "incumbent = true" in (again.folder / "config.toml").read_text()


def test_a_harder_problem_starts_from_the_weights_of_an_easier_one(tmp_path, tiny, train, trained):
    """CVRP from TSP, whose policy sees less; the weights that come out are CVRP's."""
    other = train(tmp_path / "other", tiny(problem="cvrp"), init=str(trained.weights), segments=2)
    assert load_weights(other.weights).card.problem == "cvrp"
    with pytest.raises(ValueError, match="see 7 features of a node, but tsp has 2"):
        train(tmp_path / "back", init=str(other.weights))


def test_a_critic_that_sees_the_incumbent(tmp_path, tiny, train):
    """It trains and resumes with the same losses, from scratch or from weights without; the card tells."""
    config = tiny(critic={"incumbent": True})
    whole = train(tmp_path / "whole", config)
    train(tmp_path / "parts", config, segments=10)
    train(tmp_path / "parts", resume=tmp_path / "parts")
    assert rows(tmp_path / "whole") == rows(tmp_path / "parts")
    assert load_checkpoint(whole.folder / "checkpoint.pt").tensors["critic.standing.weight"].any()
    assert load_weights(whole.weights).card.training["critic"]["incumbent"]
    plain = train(tmp_path / "plain", segments=6)
    assert rows(plain.folder) != rows(whole.folder)[:3]
    grown = train(tmp_path / "grown", config, init=str(plain.weights), segments=6)
    assert load_weights(grown.weights).critic.standing is not None


def test_a_fresh_critic_for_a_policy_that_has_learnt(tmp_path, tiny, train, trained):
    """The policy is that of the weights; the critic is new, has the options of the config, and learns."""
    config = tiny(fresh_critic=True, critic={"slope": 0.01}, seed=5)
    start = train(tmp_path / "start", config, init=str(trained.weights), segments=0)
    before, after = load_weights(trained.weights), load_weights(start.weights)
    assert all(torch.equal(x, after.policy.state_dict()[name]) for name, x in before.policy.state_dict().items())
    assert not torch.equal(before.critic.first.weight, after.critic.first.weight)
    assert after.critic.slope == 0.01
    further = train(tmp_path / "further", config, init=str(trained.weights), segments=6)
    learnt = load_checkpoint(further.folder / "checkpoint.pt").tensors["critic.first.weight"]
    assert not torch.equal(learnt, after.critic.first.weight)


def test_a_validation_file_may_move(tmp_path, tiny, train):
    """A run goes on with the file of that name wherever it lies."""
    here, there = tmp_path / "here" / "set.npz", tmp_path / "there" / "set.npz"
    for path in (here, there):
        path.parent.mkdir()
    instances = generate_set("tsp", tiny().size, tiny().validation.count, 1)
    instances.save_npz(here)
    run = train(tmp_path / "run", tiny(validation={"file": str(here)}), segments=2)
    here.rename(there)
    again = train(run.folder, resume=run.folder, settings=[f"file={there}"])
    assert again.finished


def test_what_a_critic_keeps_is_said(tmp_path, tiny, train, caplog):
    """A critic that sees the incumbent's cost goes on to see it, and the run says so."""
    seeing = train(tmp_path / "run", tiny(critic={"incumbent": True}))
    with caplog.at_level("INFO"):
        again = train(tmp_path / "again", init=str(seeing.weights), segments=1)
    assert f"critic.incumbent stays True, as {seeing.weights} has it" in caplog.messages
    assert "incumbent = true" in (again.folder / "config.toml").read_text()

"""Models that are trained for comparisons: recipes, training, and the studies that train them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dact.cards import SHIPPED
from dact.plotting.training import read_training
from dact.policy import Policy, load_weights, save_weights, single_aspect
from dact.reproduce import MODELS, STUDIES, NeedsError, Outcome, Request, Table, curriculum, models
from dact.reproduce.aspects import AspectCase, AspectsConfig, parameter_count
from dact.reproduce.models import ABSOLUTE, CYCLIC, DUAL100, SINGLE50, SINGLE100, Model
from dact.reproduce.operators import OperatorsConfig
from dact.reproduce.trained import at_hand, is_done

TINY = (
    *("size=6", "rows=4", "epochs=3", "batches=1", "network.dim=16", "network.layers=1", "rate_warm_up=0"),
    *("validation.count=4", "validation.steps=5", "every_batches=1", "smoothing=0", "curriculum.rate=0.05"),
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Request:
    """A quick request whose trainings take a second."""
    monkeypatch.setattr(models, "SMALLER", (*TINY, "horizon=20"))
    cases = (AspectCase(6, "single", SINGLE50), AspectCase(6, "dual", CYCLIC))
    monkeypatch.setattr("dact.reproduce.aspects.QUICK", AspectsConfig(cases=cases, count=3, steps=(2,)))
    monkeypatch.setattr("dact.reproduce.operators.QUICK", OperatorsConfig(size=6, count=3, steps=2))
    return Request(out=tmp_path, quick=True, models=tmp_path / "none", device="cpu")


def test_shipped_weights_tell_which_sizes_they_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A policy for 50 nodes that began as one for 100 is no test of a new size there; its card says so."""
    weights = load_weights(SHIPPED / "tsp20.safetensors")
    monkeypatch.setattr(models, "SHIPPED", tmp_path)
    for name, size, before in (("large", 100, ""), ("small", 50, "large"), ("other", 50, "gone")):
        card = replace(weights.card, name=name, size=size, started_from=before)
        save_weights(tmp_path / f"{name}.safetensors", replace(weights, card=card))
    ends = ["longer.", "longer, from large, so that instances of 100 nodes are not new to it.", "longer, from gone."]
    found = [models.shipped_origin(name) for name in ("large", "small", "other")]
    assert [text.partition("trained ")[2] for text in found] == ends


def tables(outcome: Outcome) -> dict[str, Table]:
    """By name."""
    return {each.name: each for each in outcome.outputs if isinstance(each, Table)}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_models_can_be_trained(model: Model):
    """Every model's recipe is there and takes its settings, small or not, and its start has the same networks."""
    assert model.config().name == model.name
    assert model.smaller().config().size == 10
    if model.start is not None:
        assert model.start.config().network == model.config().network


def test_single_aspect_has_the_papers_size():
    """Trained models have the networks of Table 3: 362,721 parameters against 280,801."""
    count = {
        model.name: parameter_count(Policy(model.config().network.policy_config(2)))
        for model in (SINGLE50, SINGLE100, CYCLIC, DUAL100)
    }
    assert count == {"tsp50-single": 362_721, "tsp100-single": 362_721, "tsp50-cyclic": 280_801, "tsp100-dual": 280_801}
    assert SINGLE50.config().network.policy_config(2).decoder_config == single_aspect(2).decoder_config


@pytest.mark.parametrize(("one", "other"), [(SINGLE50, CYCLIC), (SINGLE100, DUAL100), (ABSOLUTE, CYCLIC)])
def test_compared_models_are_trained_alike(one: Model, other: Model):
    """All settings are the same but for the name and the networks."""
    same = {"name": "x", "network": other.config().network}
    assert replace(one.config(), **same) == replace(other.config(), **same)


def test_curriculum_arms_differ_in_the_curriculum_alone():
    """With the same seed, only the warm-up is another."""
    with_, without = (models.CURRICULUM_MODELS[arm, 3].config() for arm in ("with", "without"))
    assert without.curriculum.rate == 0 < with_.curriculum.rate
    assert replace(without, name=with_.name, curriculum=with_.curriculum) == with_


@pytest.mark.parametrize("name", ["aspects", "curriculum"])
def test_models_are_needed(name: str, tmp_path: Path):
    """Without them one sentence says how they are trained and how long that takes."""
    with pytest.raises(NeedsError, match=rf"`dact reproduce {name} --train` .*on one H200"):
        STUDIES[name].make(Request(out=tmp_path, models=tmp_path))


def test_quick_aspects(tiny: Request):
    """Both models are trained and searched; the paper's gaps do not stand beside so short a search."""
    table = tables(STUDIES["aspects"].make(tiny))["table"]
    assert [row[:2] for row in table.rows] == [("TSP6", "single"), ("TSP6", "dual")]
    columns = list(table.columns)
    assert all(2 < row[columns.index("cost")] < 4 for row in table.rows)
    assert all(row[columns.index("paper: gap, %")] is None for row in table.rows)


def test_quick_operators(tiny: Request):
    """Every operator has a row with a policy of its own, which remembers its operator."""
    table = tables(STUDIES["operators"].make(tiny))["costs"]
    assert [row[0] for row in table.rows] == ["2-opt", "insert", "swap"]
    folder = tiny.out / "runs/operators-quick/models"
    assert load_weights(folder / "tsp20-swap.safetensors").card.operator == "swap"


def test_quick_curriculum(tiny: Request):
    """Only runs with the curriculum warm up; curves have all validations, and the ends are their last."""
    found = tables(STUDIES["curriculum"].make(tiny))
    folder = tiny.out / "runs/curriculum-quick/training"
    warm = {run.name: read_training(run).columns["warm_up_steps"].max() for run in folder.iterdir()}
    assert {name for name, steps in warm.items() if steps > 0} == {"cvrp20-with-seed1", "cvrp20-with-seed2"}
    assert [row[:3] for row in found["curves"].rows[:4]] == [("with", at, 2) for at in (0, 4, 8, 12)]
    assert np.mean(found["ends"].rows[0][1:]) == pytest.approx(found["curves"].rows[3][3])


def test_intervals():
    """Five runs of deviation 1: the mean is known to 2.132 / sqrt(5) in 90 of 100 cases."""
    cost_RT = np.array([[-1.0], [-1.0], [0.0], [1.0], [1.0]])
    mean_T, half_T = curriculum.Curves("with", np.zeros(1), cost_RT).band()
    assert mean_T[0] == 0
    assert half_T[0] == pytest.approx(2.132 / np.sqrt(5))


def test_an_interrupted_training_goes_on(tiny: Request):
    """What was trained stays, the run that was interrupted goes on, and the answer is that of one call."""
    whole = tables(STUDIES["aspects"].make(replace(tiny, out=tiny.out / "whole")))["table"]
    seen: list[str] = []

    def progress(fraction: float, detail: str) -> None:
        seen.append(detail)
        if "training tsp50-cyclic" in detail and fraction > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        STUDIES["aspects"].make(replace(tiny, progress=progress))
    folder = tiny.out / "runs/aspects-quick"
    assert [path.name for path in (folder / "models").iterdir()] == ["tsp50-single.safetensors"]
    begun = (folder / "training/tsp50-cyclic/metrics.csv").read_text()
    again = tables(STUDIES["aspects"].make(tiny))["table"]
    assert (folder / "training/tsp50-cyclic/metrics.csv").read_text().startswith(begun[:200])
    cost = list(whole.columns).index("cost")
    assert [row[cost] for row in again.rows] == [row[cost] for row in whole.rows]


def test_train_fills_the_folder_of_models(tmp_path: Path):
    """`--train` trains what is missing and what that starts from, first to last, and leaves what is there."""
    names = ("tsp20-two_opt", "tsp50-cyclic", "tsp100-dual")
    larger: Model | None = None
    for size, model in enumerate(DUAL100.chain, start=6):
        larger = replace(model, settings=(*TINY, "horizon=8", f"size={size}"), start=larger)
    assert larger is not None
    request = Request(out=tmp_path, models=tmp_path / "models", train=True, device="cpu")
    there = at_hand([larger], request)
    assert list(there) == [names[2]]
    starts = [load_weights(request.models / f"{name}.safetensors").card.started_from for name in names[1:]]
    assert [Path(start).stem for start in starts] == list(names[:2])
    made = {path: path.stat().st_mtime_ns for path in request.models.iterdir()}
    assert {path.stem for path in made} == set(names)
    at_hand([larger], request)
    assert {path: path.stat().st_mtime_ns for path in request.models.iterdir()} == made


def test_shards_do_not_train(tiny: Request):
    """Two processes would train the same run."""
    with pytest.raises(NeedsError, match="leave out --shard"):
        STUDIES["curriculum"].make(replace(tiny, shard=(1, 2)))


@pytest.mark.parametrize(
    ("rows", "done"),
    [([], False), (["4,1,0.99,3.1,"], False), (["4,1,1,,"], False), (["2,1,0.5,,", "4,1,1,3.1,end"], True)],
)
def test_runs_are_done_after_their_last_validation(rows: list[str], done: bool, tmp_path: Path):
    """The schedule has come to its end, and what it ended with has been measured."""
    text = "\n".join(["segments,minutes,progress,validation_cost,event", *rows]) + "\n"
    (tmp_path / "metrics.csv").write_text(text)
    assert is_done(tmp_path) == done
    assert not is_done(tmp_path / "nothing")

"""Weights on disk."""

import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from dact import cards
from dact.cards import Card, read_about, read_card, shipped
from dact.policy import (
    CriticConfig,
    Library,
    Policy,
    PolicyConfig,
    Weights,
    adapted,
    find_weights,
    load_weights,
    make_critic,
    save_weights,
    starting_weights,
)


def make(problem: str = "tsp", features: int = 2, size: int = 20) -> Weights:
    """Random networks with a card."""
    config = PolicyConfig(features=features)
    card = Card(name="random", problem=problem, size=size, gaps={"validation T=1k": 1.5}, training={"seed": 3})
    return Weights(policy=Policy(config), critic=make_critic(config), card=card)


def test_weights_survive_the_disk(tmp_path: Path) -> None:
    """Actor, critic, config and card come back as they went."""
    before = make()
    save_weights(tmp_path / "w.safetensors", before)
    after = load_weights(tmp_path / "w.safetensors")
    assert after.card == before.card
    assert after.policy.config == before.policy.config
    features = torch.rand(2, 7, 2)
    torch.testing.assert_close(after.policy(features), before.policy(features))
    aspects = before.policy.encode(features)
    torch.testing.assert_close(after.critic(aspects), before.critic(aspects))
    assert not list(tmp_path.glob("*.part"))


def test_a_critic_that_sees_more_survives_the_disk(tmp_path: Path) -> None:
    """The config says that it is shown costs; files from before the setting existed are critics that are not."""
    before = make()
    after = replace(before, critic=adapted(before.policy, before.critic, CriticConfig(incumbent=True)))
    save_weights(tmp_path / "w.safetensors", after)
    assert load_weights(tmp_path / "w.safetensors").critic.standing is not None
    plain = before.policy.config.to_dict()
    del plain["critic_config"]["incumbent"]
    assert not PolicyConfig.from_dict(plain).critic_config.incumbent


@pytest.mark.parametrize("content", [b"", b"rubbish" * 40, b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_other_files_are_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    """Rubbish, an empty file and foreign safetensors name the file and say what is wrong."""
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"w\.safetensors: not a weights file of DACT") as caught:
        load_weights(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "spoil", [lambda x: x.pop("actor.encoder.embed.weight"), lambda x: x.update(more=torch.ones(1))]
)
def test_tensors_that_do_not_fit_are_refused(spoil: Callable[[dict[str, Tensor]], object], tmp_path: Path) -> None:
    """A file with fewer or more tensors than its config says is refused in one sentence."""
    path = tmp_path / "w.safetensors"
    save_weights(path, make())
    about, tensors = read_about(path), load_file(path)
    spoil(tensors)
    save_file(tensors, path, metadata={"dact": json.dumps(about)})
    with pytest.raises(ValueError, match="do not fit the config") as caught:
        load_weights(path)
    assert "\n" not in str(caught.value)


def test_weights_of_another_problem_are_refused(tmp_path: Path) -> None:
    """TSP weights do not solve a CVRP."""
    path = tmp_path / "w.safetensors"
    save_weights(path, make())
    with pytest.raises(ValueError, match="are for tsp, not for cvrp"):
        find_weights("cvrp", 7, 100, str(path))


def test_training_may_start_from_another_problem(tmp_path: Path) -> None:
    """Features the other problem did not see change nothing at first; fewer features than it saw are refused."""
    path = tmp_path / "w.safetensors"
    save_weights(path, made := make())
    started = starting_weights("cvrp", 7, 20, str(path))
    seen, unseen = torch.rand(3, 9, 2), torch.rand(3, 9, 5)
    assert torch.equal(started.policy(torch.cat((seen, unseen), dim=2)), made.policy(seen))
    assert started.card.problem == "cvrp"
    save_weights(path, make("cvrp", 7))
    assert starting_weights("cvrp", 7, 20, str(path)).policy.config.features == 7
    with pytest.raises(ValueError, match="see 7 features of a node, but tsp has 2"):
        starting_weights("tsp", 2, 20, str(path))


def test_unknown_weights_are_refused_with_what_there_is() -> None:
    """The error lists the names."""
    with pytest.raises(
        ValueError, match=r"weights 'best' are neither a file, nor the folder of a run, nor one of: .*untrained"
    ):
        find_weights("tsp", 2, 100, "best")


def test_the_folder_of_a_run_stands_for_its_best_weights(tmp_path: Path) -> None:
    """To search with and to train from; a run without any says so."""
    run = tmp_path / "run"
    run.mkdir()
    for find in (find_weights, starting_weights):
        with pytest.raises(ValueError, match=r"run: the folder has no best weights yet \(best\.safetensors\)"):
            find("tsp", 2, 20, str(run))
    save_weights(run / "best.safetensors", make())
    for find in (find_weights, starting_weights):
        assert find("tsp", 2, 20, str(run)).card == make().card


def test_the_nearest_size_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name, the problem and then the size decide."""
    for name, problem, size in (("a", "tsp", 20), ("b", "tsp", 100), ("c", "cvrp", 50)):
        save_weights(tmp_path / f"{name}.safetensors", make(problem, 2 if problem == "tsp" else 7, size))
    monkeypatch.setattr(cards, "SHIPPED", tmp_path)
    assert find_weights("tsp", 2, 55).card.size == 20
    assert find_weights("tsp", 2, 200).card.size == 100
    assert find_weights("cvrp", 7, 1000).card.size == 50


def test_files_use_weights_that_know_several_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the smallest of their sizes on; sets keep the weights of their size, and a card of nonsense has no sizes."""
    for name, size, sizes in (("a", 50, []), ("b", 100, "60"), ("c", 100, [60, 100])):
        each = make("tsp", 2, size)
        card = replace(each.card, name=name, training={"sizes": sizes})
        save_weights(tmp_path / f"{name}.safetensors", replace(each, card=card))
    monkeypatch.setattr(cards, "SHIPPED", tmp_path)
    found = [[Library(files=files).find("tsp", 2, size).card.name for size in (59, 60, 100)] for files in (False, True)]
    assert found == [["a", "a", "b"], ["a", "c", "c"]]


def test_untrained_weights_say_so_and_are_always_the_same() -> None:
    """Random weights come from a fixed seed and leave the global stream alone."""
    state = torch.random.get_rng_state()
    first, second = (find_weights("tsp", 2, 20, "untrained") for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert "untrained" in first.card.note
    features = torch.rand(1, 5, 2)
    assert torch.equal(first.policy(features), second.policy(features))


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_shipped_weights_say_what_they_are(path: Path) -> None:
    """Each has its config, GPU minutes, date, commit and measured gaps, and is named as its file."""
    card = read_card(path)
    assert card.name == path.stem == (card.problem if card.sizes else f"{card.problem}{card.size}")
    assert card.training["name"] == card.name
    assert card.training["size"] == card.size
    assert card.gpu_minutes > 0
    assert datetime.date.fromisoformat(card.created) >= datetime.date(2026, 11, 15)
    assert len(card.commit) >= 7
    assert all(0 < gap < 10 for gap in card.gaps.values())
    assert card.gaps


def test_six_models_are_shipped() -> None:
    """Both problems in the paper's three sizes."""
    assert {path.stem for path in shipped()} >= {f"{kind}{size}" for kind in ("tsp", "cvrp") for size in (20, 50, 100)}

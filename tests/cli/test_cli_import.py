"""`dact import`: checkpoints of the authors' code."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from authors_layout import actor, critic

from dact.policy import Weights, load_weights
from dact.policy.authors import critic_from_authors, policy_from_authors


def _same(one: torch.nn.Module, two: torch.nn.Module) -> bool:
    ours, theirs = one.state_dict(), two.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def _matches(weights: Weights, plain: dict[str, Any]) -> bool:
    """Are these the networks that the converter makes of the parameters?"""
    policy = policy_from_authors(plain["actor"])
    return _same(weights.policy, policy) and _same(weights.critic, critic_from_authors(plain["critic"], policy.config))


@pytest.fixture
def plain() -> dict[str, Any]:
    """A checkpoint for the CVRP with random parameters."""
    return {"actor": actor(7), "critic": critic()}


def _prefixed(state: dict[str, Any]) -> dict[str, Any]:
    return {f"module.{name}": value for name, value in state.items()}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda plain: plain,
        lambda plain: plain | {"optimizer": {"state": {}, "param_groups": [{"lr": 1e-4}]}},
        lambda plain: {"model": plain},
        lambda plain: {part: _prefixed(state) for part, state in plain.items()},
    ],
)
def test_import_restores_every_parameter(dact, tmp_path: Path, plain: dict[str, Any], wrap):
    """Actor and critic come back bit for bit, however the checkpoint is wrapped, and can be used by name."""
    file, out = tmp_path / "epoch.pt", tmp_path / "weights" / "cvrp20-authors.safetensors"
    torch.save(wrap(plain), file)
    answer = dact("import", file, "--size", 20, "--out", out)
    assert (answer.code, answer.out) == (0, "")
    loaded = load_weights(out)
    assert _matches(loaded, plain)
    assert (loaded.card.name, loaded.card.problem, loaded.card.size) == ("cvrp20-authors", "cvrp", 20)


def test_import_without_critic(dact, tmp_path: Path, plain: dict[str, Any]):
    """An actor alone is enough to solve; the card says that the critic is random."""
    file, out = tmp_path / "epoch.pt", tmp_path / "w.safetensors"
    torch.save({"actor": plain["actor"]}, file)
    assert "random critic" in dact("import", file, "--size", 20, "--out", out, "--problem", "cvrp").err
    assert _same(load_weights(out).policy, policy_from_authors(plain["actor"]))


def test_imported_weights_solve(dact, depot: Path, tmp_path: Path, plain: dict[str, Any]):
    """Imported weights are chosen by their file and named by its stem."""
    file, out = tmp_path / "epoch.pt", tmp_path / "mine.safetensors"
    torch.save(plain, file)
    dact("import", file, "--size", 20, "--out", out)
    assert dact("solve", depot, "--weights", out, "--steps", 2, "--json").record["weights"] == "mine"


def _without(plain: dict[str, Any], name: str) -> dict[str, Any]:
    return {"actor": {key: value for key, value in plain["actor"].items() if key != name}}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda plain: _without(plain, "decoder.value_head.fc2.bias"), ["decoder.value_head.fc2.bias"]),
        (lambda plain: _without(plain, "embedder.embedder.weight"), ["embedder.embedder.weight"]),
        (lambda plain: {"actor": plain["actor"] | {"embedder.embedder.weight": torch.zeros(64, 3)}}, ["(64, 3)"]),
        (lambda plain: {"actor": plain["actor"] | {"embedder.embedder.weight": torch.zeros(5)}}, ["(5,)"]),
        (
            lambda plain: {"actor": plain["actor"] | {"decoder.value_head.fc2.bias": torch.zeros(5)}},
            ["shape"],
        ),
        (lambda plain: {"actor": 3}, ["no actor"]),
        (lambda plain: [1, 2], ["no dictionary"]),
        (lambda plain: {"actor": Path("x")}, ["plain tensors"]),
    ],
)
def test_other_checkpoints_are_refused(dact, tmp_path: Path, plain: dict[str, Any], spoil, words: list[str]):
    """Anything else is refused in one sentence, and nothing is written."""
    file, out = tmp_path / "epoch.pt", tmp_path / "w.safetensors"
    torch.save(spoil(plain), file)
    dact("import", file, "--size", 20, "--out", out).refused("epoch.pt", *words)
    assert not out.exists()


def test_rubbish_and_wrong_problem(dact, tmp_path: Path, plain: dict[str, Any]):
    """Bytes that are no checkpoint, and a problem that the parameters contradict, are refused."""
    file, out = tmp_path / "epoch.pt", tmp_path / "w.safetensors"
    file.write_bytes(b"rubbish")
    dact("import", file, "--size", 20, "--out", out).refused("epoch.pt", "plain tensors")
    torch.save(plain, file)
    dact("import", file, "--size", 20, "--out", out, "--problem", "tsp").refused("7 node features", "cvrp")
    dact("import", file, "--size", 0, "--out", out).refused("size 0")
    dact("import", file, "--size", 20, "--out", tmp_path / "w.pt").refused("w.pt", ".safetensors")


def test_parity_fixtures_as_checkpoints(dact, tmp_path: Path, parity_folder: Path):
    """Checkpoints made of recorded parameters give the recorded logits and values."""
    for fixture in sorted(parity_folder.glob("*.npz")):
        recorded = np.load(fixture)
        content: dict[str, dict[str, torch.Tensor]] = {"actor": {}, "critic": {}}
        for key in recorded.files:
            part, _, name = key.partition("/")
            if part in content:
                content[part][name] = torch.from_numpy(recorded[key])
        file, out = tmp_path / "epoch.pt", tmp_path / f"{fixture.stem}.safetensors"
        torch.save(content, file)
        assert dact("import", file, "--size", 20, "--out", out).code == 0
        weights = load_weights(out)
        assert weights.card.problem == fixture.stem.rstrip("0123456789")
        assert _same_logits(weights, recorded)


def _same_logits(weights: Weights, recorded: Any) -> bool:
    """Features are recorded by node, ours are in tour order: compare through the recorded positions."""
    position_BN = torch.from_numpy(recorded["position"].astype(np.int64))
    tour_BN = position_BN.argsort(1)
    features_BNF = torch.from_numpy(recorded["features"])
    ordered = features_BNF.gather(1, tour_BN.unsqueeze(2).expand_as(features_BNF))
    with torch.inference_mode():
        logits_BNN = weights.policy(ordered)
    rows = torch.arange(len(tour_BN))[:, None, None]
    by_node = logits_BNN[rows, position_BN[:, :, None], position_BN[:, None, :]]
    return torch.allclose(by_node, torch.from_numpy(recorded["logits_before_mask"]), atol=1e-5)


@pytest.mark.parametrize(("name", "size"), [("cvrp50-epoch-190.pt", 50), ("CVRP_20.pt", 20), ("model.pt", 100)])
def test_import_needs_nothing_but_the_file(dact, tmp_path: Path, plain: dict[str, Any], name: str, size: int):
    """The size is told by the name, and the weights lie beside the checkpoint."""
    torch.save(plain, tmp_path / name)
    assert dact("import", tmp_path / name).code == 0
    assert load_weights((tmp_path / name).with_suffix(".safetensors")).card.size == size


def test_parameters_that_are_no_numbers(dact, tmp_path: Path, plain: dict[str, Any]):
    """A parameter that is not finite, or a view over more than is stored, is refused."""
    actor = plain["actor"]
    name = next(iter(actor))
    for value, words in (
        (torch.full_like(actor[name], float("nan")), "not finite"),
        (torch.zeros(1).expand(10**6, 10**6), "more than is stored"),
    ):
        torch.save(plain | {"actor": actor | {name: value}}, tmp_path / "a.pt")
        dact("import", tmp_path / "a.pt", "--size", 20).refused("a.pt", words)
    dact("import", tmp_path / "a.pt", "--size", 10**30).refused("size", "above 20000")

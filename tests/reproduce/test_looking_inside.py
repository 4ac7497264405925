"""Reproductions that look into policies."""

from pathlib import Path

import pytest
import torch

from dact.cards import Card
from dact.policy import Policy, PolicyConfig, PositionConfig, Weights, make_critic, save_weights, single_aspect
from dact.reproduce import STUDIES, NeedsError, Request, Table, reproduce
from dact.reproduce.attention import AttentionConfig, near_rows
from dact.reproduce.correlations import CorrelationsConfig
from dact.reproduce.models import ABSOLUTE, ADDED, Model


def save_random(model: Model, folder: Path, config: PolicyConfig) -> None:
    """Random weights in the place of a trained model."""
    torch.manual_seed(0)
    card = Card(name=model.name, problem="tsp", size=20)
    save_weights(model.path(folder), Weights(policy=Policy(config), critic=make_critic(config), card=card))


def test_correlations_need_a_model(tmp_path: Path):
    """Without it nothing is made, and the error says how to train it and how long that takes."""
    with pytest.raises(
        NeedsError, match=r"tsp20-single.*`dact reproduce correlations --train`.*about 1 min on one H200"
    ):
        reproduce("correlations", Request(out=tmp_path, models=tmp_path))


def test_correlations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With a model there are a picture and a row for each term."""
    monkeypatch.setattr("dact.reproduce.correlations.FULL", CorrelationsConfig(count=2))
    save_random(ADDED, tmp_path, single_aspect(2))
    outcome, paths = reproduce("correlations", Request(out=tmp_path, models=tmp_path))
    assert {path.suffix for path in paths} == {".md", ".csv", ".png", ".svg"}
    (table,) = (output for output in outcome.outputs if isinstance(output, Table))
    assert [row[0] for row in table.rows] == ["node-node", "position-position", "node-position", "position-node"]


def test_attention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Both encodings where there is a model of the absolute one."""
    monkeypatch.setattr("dact.reproduce.attention.QUICK", AttentionConfig(count=1, steps=2))
    config = PolicyConfig(features=2, position=PositionConfig(kind="sinusoidal"))
    save_random(ABSOLUTE, tmp_path, config)
    outcome = STUDIES["attention"].make(Request(out=tmp_path, quick=True, models=tmp_path, device="cpu"))
    assert [output.name for output in outcome.outputs] == ["cyclic", "absolute", "neighbours"]
    assert not outcome.missing


def test_even_attention_is_one():
    """Attention that looks at all positions alike is once even attention, to neighbours as to all."""
    weight = torch.full((3, 2, 2, 4, 20, 20), 1 / 20)
    assert [row[2:] for row in near_rows(20, weight)] == [(pytest.approx(1), pytest.approx(1))] * 2


@pytest.mark.slow
def test_quick_attention(tmp_path: Path):
    """The quick version as people call it says that the absolute encoding's model is missing."""
    outcome, paths = reproduce("attention", Request(out=tmp_path, quick=True, models=tmp_path))
    assert len(paths) == 4
    assert "tsp50-absolute" in outcome.missing[0]

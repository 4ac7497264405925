"""Weights files that ask for too much, or hold what is no number, are refused in one sentence."""

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from bounds import within_seconds
from dact.cards import Card, check_early, read_card
from dact.policy import Policy, PolicyConfig, Weights, load_weights, make_critic, save_weights


def stored(path: Path, place: tuple[str, ...] = (), value: object = None, poison: float | None = None) -> Path:
    """Weights on disk, with something changed in what they say of themselves, or in a number."""
    config = PolicyConfig(features=2)
    policy, critic = Policy(config), make_critic(config)
    tensors = {f"actor.{name}": x for name, x in policy.state_dict().items()}
    tensors |= {f"critic.{name}": x for name, x in critic.state_dict().items()}
    if poison is not None:
        tensors["actor.encoder.embed.weight"][3, 1] = poison
    about: dict[str, Any] = {
        "format": 1,
        "policy": config.to_dict(),
        "card": {"name": "a", "problem": "tsp", "size": 20},
    }
    table = about
    for key in place[:-1]:
        table = table[key]
    if place:
        table[place[-1]] = value
    save_file(tensors, path, metadata={"dact": json.dumps(about)})
    return path


BOMBS = [
    (("policy", "encoder_config", "layers"), 10**9),
    (("policy", "encoder_config", "layers"), 60),
    (("policy", "encoder_config", "layers"), 3.0),
    (("policy", "encoder_config", "layers"), True),
    (("policy", "encoder_config", "dim"), 4 * 10**9),
    (("policy", "encoder_config", "dim"), 1024),
    (("policy", "encoder_config", "dim"), 1),
    (("policy", "encoder_config", "hidden"), 10**30),
    (("policy", "decoder_config", "head_dim"), 10**9),
    (("policy", "decoder_config", "clip"), float("nan")),
    (("policy", "decoder_config", "clip"), float("inf")),
    (("policy", "critic_config", "hidden"), 10**9),
    (("policy", "critic_config", "slope"), "much"),
    (("policy", "features"), 10**12),
    (("policy", "features"), 2.0),
    (("policy", "position", "wavelength_length"), 10**30),
    (("policy", "position", "wavelength_length"), "long"),
    (("policy",), []),
    (("policy",), None),
    (("card",), 3),
    (("card", "size"), "20"),
    (("card", "gaps"), {"a": "b"}),
    (("card", "training"), [1]),
    (("card", "more"), 1),
]


@pytest.mark.parametrize(("place", "value"), BOMBS)
def test_what_weights_say_of_themselves_is_bounded(place: tuple[str, ...], value: object, tmp_path: Path) -> None:
    """Sizes beyond reason, or beyond what the file holds, and values of another kind are refused."""
    path = stored(tmp_path / "w.safetensors", place, value)
    with within_seconds(2), pytest.raises(ValueError, match=r"w\.safetensors: the weights do not fit") as caught:
        load_weights(path)
    assert len(str(caught.value).splitlines()) == 1
    if place[0] == "card":
        with pytest.raises(ValueError, match="card"):
            read_card(path)


@pytest.mark.parametrize(("place", "value"), [bomb for bomb in BOMBS if type(bomb[1]) is int and bomb[1] > 10**8])
def test_sizes_are_bounded_without_pytorch(place: tuple[str, ...], value: int, tmp_path: Path) -> None:
    """No size in the config can be above the number of bytes in the file."""
    path = stored(tmp_path / "w.safetensors", place, value)
    with pytest.raises(ValueError, match=rf"w\.safetensors: says {place[-1]} is .*, more than a file of"):
        check_early(str(path))


def test_a_tensor_that_does_not_belong_is_not_read(tmp_path: Path) -> None:
    """Four gigabytes in a file that takes no room on the disk are refused by their name."""
    path, last = stored(tmp_path / "w.safetensors"), 2**32
    content = path.read_bytes()
    length = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:length])
    begin = len(content) - length
    header["actor.more"] = {"dtype": "F32", "shape": [last // 4], "data_offsets": [begin, begin + last]}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[length:])
    os.truncate(path, 8 + len(text) + begin + last)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    check_early(str(path))
    with pytest.raises(ValueError, match=r"'actor\.more' is no part of them"):
        load_weights(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_refused(number: float, tmp_path: Path) -> None:
    """Weights of a training that went wrong are not searched with."""
    path = stored(tmp_path / "w.safetensors", poison=number)
    for reader in (load_weights, lambda path: check_early(str(path))):
        with pytest.raises(ValueError, match=r"'encoder.embed.weight' hold numbers that are not finite"):
            reader(path)


@pytest.mark.parametrize("text", ["[" * 200_000, "[]", "3", "null", '{"policy":', "9" * 5000, '"' + "\\u" * 9])
def test_metadata_that_is_no_card(text: str, tmp_path: Path) -> None:
    """JSON that is deep, broken or no object is refused."""
    path = tmp_path / "w.safetensors"
    save_file({"a": torch.zeros(1)}, path, metadata={"dact": text})
    for reader in (load_weights, read_card):
        with pytest.raises(ValueError, match=r"w\.safetensors: not a weights file of DACT"):
            reader(path)


def test_a_disk_that_is_full_is_named(tmp_path: Path) -> None:
    """Weights that cannot be written give one sentence and leave nothing behind."""
    config = PolicyConfig(features=2)
    card = Card(name="a", problem="tsp", size=20)
    weights = Weights(policy=Policy(config), critic=make_critic(config), card=card)
    (tmp_path / "w.safetensors").mkdir()
    with pytest.raises(ValueError, match=r"w\.safetensors: cannot be written"):
        save_weights(tmp_path / "w.safetensors", weights)
    assert [path.name for path in tmp_path.iterdir()] == ["w.safetensors"]

"""Settings that ask for too much are refused in one sentence, before anything is built."""

from pathlib import Path

import pytest

from bounds import within_megabytes, within_seconds
from dact.training import load_config

BASE = 'name = "a"\nproblem = "tsp"\nsize = 20\n'
FILES = {
    "brackets": BASE + "x = " + "[" * 50_000,
    "closed brackets": BASE + "x = " + "[" * 20_000 + "]" * 20_000,
    "tables": BASE + "[" + "a." * 20_000 + "a]",
    "dotted keys": BASE + "a." * 20_000 + "b = 1",
    "digits": BASE + f"seed = {'9' * 5000}",
    "exponent": BASE + "ppo.clip = 1e400",
    "too long": BASE + "#" * 2**17,
    "a number of 400 digits": BASE + f"ppo.clip = {'9' * 400}",
    "no text": "\x00",
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    """A file that is too deep, too long or holds numbers beyond all use is refused by name."""
    path = tmp_path / "a.toml"
    path.write_text(FILES[name])
    with within_seconds(4), within_megabytes(100), pytest.raises(ValueError, match=r"a\.toml: ") as caught:
        load_config(path)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 600


SETTINGS = [
    "sizes=4-3000000000",
    "sizes=4-20001",
    f"sizes=4-{'9' * 30}",
    f"size={'9' * 26}",
    "size=20001",
    "network.dim=4000000000",
    "network.dim=2000",
    "network.layers=1000",
    "network.heads=65",
    "network.hidden=100000",
    "critic.hidden=1000000000",
    "schedule.rows=2000000000",
    "schedule.rows=4000000000",
    "schedule.epochs=99999999999999999999",
    "validation.count=2000000000",
    "instances.most_routes=2000000000",
    "ppo.segment=200",
    "schedule.horizon=" + "9" * 5000,
    "x={" + "a." * 20_000 + "a=1}",
    "x=" + "[" * 50_000,
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda text: text[:30])
def test_settings(setting: str, tmp_path: Path) -> None:
    """Sizes, rows and networks beyond any device are refused by the name of the setting."""
    path = tmp_path / "a.toml"
    path.write_text(BASE + "[schedule]\nrows = 1000000\nhorizon = 200\n" * (setting == "ppo.segment=200"))
    with within_seconds(2), within_megabytes(50), pytest.raises(ValueError, match=r"a\.toml") as caught:
        load_config(path, [setting])
    assert len(str(caught.value).splitlines()) == 1

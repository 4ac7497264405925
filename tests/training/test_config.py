"""Settings from TOML and from the command line."""

import re
from pathlib import Path

import pytest

from dact.policy import CriticConfig, PolicyConfig
from dact.problems import PROBLEMS
from dact.training.config import NetworkConfig, TrainConfig, changed, from_dict, load_config, network_of, to_toml
from dact.training.networks import RuntimeConfig

SETTINGS = Path(__file__).parents[2] / "docs/settings.md"
CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.toml"))
PAPER = {
    "tsp20": (600, 200, 4, 0.25, 0.04),
    "tsp50": (600, 200, 4, 2.0, 0.2),
    "tsp100": (600, 200, 4, 10.0, 0.45),
    "cvrp20": (600, 250, 5, 1.0, 0.04),
    "cvrp50": (600, 250, 5, 4.0, 0.2),
    "cvrp100": (512, 250, 5, 12.5, 0.45),
}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_is_valid_and_round_trips(path):
    """Each file loads, is named as its file, and comes back the same from the copy a run keeps."""
    config = load_config(path)
    assert config.name == path.stem
    copy = path.read_text() and to_toml(config)
    import tomllib

    assert from_dict(tomllib.loads(copy)) == config


@pytest.mark.parametrize("name", PAPER)
def test_paper_settings(name):
    """Rows, horizon, n, xi and gradient norm of Appendix E, 4000 batches, and nothing the paper does not have."""
    config = load_config(CONFIGS[0].parent / f"{name}.toml")
    schedule, ppo = config.schedule, config.ppo
    numbers = (schedule.rows, schedule.horizon, ppo.segment, config.curriculum.rate, ppo.gradient_norm)
    assert numbers == PAPER[name]
    assert schedule.epochs * schedule.batches == 4000
    assert (ppo.update_epochs, ppo.clip, ppo.discount, ppo.actor_rate, ppo.critic_rate) == (3, 0.1, 0.999, 1e-4, 3e-5)
    assert (schedule.decay, config.curriculum.sharpness, schedule.schedule_minutes) == (0.985, 0.2, 0)
    assert not ppo.normalise_advantage
    assert ppo.entropy_bonus == ppo.kl_limit == ppo.smoothing == schedule.rate_warm_up == 0
    assert (ppo.share, config.curriculum.horizons, config.critic) == (1.0, 1, CriticConfig())
    assert (CONFIGS[0].parent / f"{name}-fast.toml").exists()


def test_changes():
    """Keys with and without their table, numbers, words and truth values."""
    plain = {"name": "x", "problem": "tsp", "size": 20, "ppo": {"segment": 4}}
    settings = [
        "seed=7",
        "rows=64",
        "ppo.clip=0.2",
        "graph=false",
        "normalise_advantage=true",
        "start=last",
        "sizes=[20, 50]",
        "incumbent=true",
    ]
    config = from_dict(changed(plain, settings))
    assert (config.seed, config.schedule.rows, config.ppo.clip, config.runtime.graph) == (7, 64, 0.2, "false")
    assert config.ppo.normalise_advantage
    assert config.curriculum.start == "last"
    assert config.sizes == (20, 50)
    assert config.critic.incumbent
    assert plain["ppo"] == {"segment": 4}


@pytest.mark.parametrize("setting", re.findall(r"`([a-z_.]+=[^`]+)`", SETTINGS.read_text()))
def test_every_documented_setting_exists(setting):
    """What docs/settings.md lists can be passed on the command line."""
    plain = {"name": "x", "problem": "tsp", "size": 20}
    assert from_dict(changed(plain, [setting])) != from_dict(plain) or setting == "schedule.decay=0.985"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("rows", "'rows' is not key=value"),
        ("rowz=3", r"'rowz' is unknown; did you mean 'rows'\?$"),
        ("xyzzy=3", "'xyzzy' is unknown$"),
        ("ppo.actor_rat=3", r"'ppo.actor_rat' is unknown; did you mean 'ppo.actor_rate'\?"),
        ("actor_rate=3", "ppo.actor_rate 3.0 is above 0.01"),
        ("critic_rate=0.5", "ppo.critic_rate 0.5 is above 0.01"),
        ("decay=1.5", "schedule.decay 1.5 is above 1"),
        ("curriculum.rate=1e6", "curriculum.rate 1000000.0 is above 500"),
        ("heads=3", "'heads' is in several tables: network.heads, critic.heads"),
        ("size.x=3", "'size' is no table, so that it has no 'x'"),
        ("sizes=60-20", "'sizes' is '60-20', but must be of type int"),
        ("ppo.rows=3", "'ppo.rows' is unknown; known here: actor_rate"),
        ("nothing.rows=3", "'nothing' is unknown"),
        ("rows=many", "'schedule.rows' is 'many', but must be of type int"),
        ("rows=0", "schedule.rows is 0"),
        ("actor_rate=nan", "'ppo.actor_rate' is nan, but must be a finite number"),
        ("decay=inf", "'schedule.decay' is inf, but must be a finite number"),
        ("size=3", "size 3 is below 4"),
        ("problem=tsptw", "problem 'tsptw' is not one of tsp, cvrp"),
        ("operator=or_opt", "operator 'or_opt'"),
        ("horizon=201", "schedule.horizon 201 is not a multiple of ppo.segment 4"),
        ("ppo=3", "'ppo' is a table"),
        ("precision=float8", "runtime.precision 'float8'"),
        ("logits=int8", "runtime.logits 'int8'"),
        ('runtime={precision = "tf32", logits = "float32"}', "'float32' does not go with runtime.precision 'tf32'"),
        ("encoder=triple", "encoder 'triple'"),
        ("seed=-1", "seed -1"),
        ("critic.heads=0", "critic heads is 0"),
        ("sizes=[20, 3]", "size 3 is below 4"),
        ("sizes=[20, 20]", "name a size twice"),
        ("sizes=[20, 2.5]", "'sizes' is 2.5, but must be of type int"),
        ("ppo={kl_limit = 0.1, update_epochs = 1}", "ppo.kl_limit is 0.1, but with ppo.update_epochs = 1"),
        ("incumbent=3", "'critic.incumbent' is 3, but must be of type bool"),
    ],
)
def test_mistakes_are_named(setting, said):
    """The error names the key and what is wrong with it."""
    plain = {"name": "x", "problem": "tsp", "size": 20}
    with pytest.raises(ValueError, match=said):
        from_dict(changed(plain, [setting]))


def test_idle_moves_are_known_for_two_opt():
    """Closing them with another operator is refused."""
    plain = {"name": "x", "problem": "tsp", "size": 20, "idle_moves": False}
    assert from_dict(plain).searched_problem() == PROBLEMS["tsp"].with_idle_moves(False)
    with pytest.raises(ValueError, match="idle_moves = false goes with the operator two_opt, not with insert"):
        from_dict(changed(plain, ["operator=insert"]))


def test_files_that_are_no_configs(tmp_path):
    """Missing, no TOML, and incomplete files are refused with their name or what they lack."""
    with pytest.raises(ValueError, match=r"none\.toml: does not exist"):
        load_config(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("size = = 3")
    with pytest.raises(ValueError, match=r"bad\.toml: is not TOML"):
        load_config(tmp_path / "bad.toml")
    (tmp_path / "short.toml").write_text("size = 20")
    with pytest.raises(ValueError, match=r"short\.toml: settings are incomplete: name, problem missing"):
        load_config(tmp_path / "short.toml")
    with pytest.raises(ValueError, match=r"short\.toml with rows=0: schedule\.rows is 0"):
        load_config(tmp_path / "short.toml", ["rows=0"])


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("20-60/10", (20, 30, 40, 50, 60)), ("5-8", (5, 6, 7, 8)), ("20-45/10", (20, 30, 40)), ("[7, 20]", (7, 20))],
)
def test_sizes_from_a_range(text, sizes):
    """A range may stand for its sizes."""
    plain = {"name": "x", "problem": "tsp", "size": 20}
    assert from_dict(changed(plain, [f"sizes={text}"])).sizes == sizes


def test_networks_by_their_settings():
    """Heads, widths and the range of logits reach the networks, and are read back from them."""
    settings = NetworkConfig(dim=32, layers=2, heads=2, hidden=48, logit_range=10.0)
    config = settings.policy_config(features=2)
    assert (config.encoder_config.heads, config.encoder_config.hidden, config.decoder_config.heads) == (2, 48, 2)
    assert config.decoder_config.clip == 10
    assert network_of(config) == settings
    assert NetworkConfig().policy_config(features=2) == PolicyConfig(features=2)


def test_text_is_escaped():
    """Quotes and backslashes in a name survive the copy."""
    config = TrainConfig(name='a "b" \\c', problem="tsp", size=20)
    import tomllib

    assert from_dict(tomllib.loads(to_toml(config))) == config


def test_half_precision_needs_a_gpu():
    """A CPU may not even have the instructions."""
    with pytest.raises(ValueError, match=r"runtime\.logits 'bfloat16' needs a CUDA device"):
        RuntimeConfig(device="cpu", logits="bfloat16").resolved()

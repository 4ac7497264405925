"""Settings: nested by component, flat for users, the same on the command line."""

import inspect
from dataclasses import fields, is_dataclass

import pytest

from dact.cli import options
from dact.pipeline import SEARCHES, SolveConfig
from dact.search import SearchConfig


def test_flat_settings_find_their_records():
    """A plain name sets the field of the record that has it, and leaves the others as they are."""
    config = SolveConfig.flat(steps=7, patience=3)
    assert (config.steps, config.policy.patience) == (7, 3)
    assert config == SolveConfig(steps=7, policy=SearchConfig(operator="auto", patience=3))
    assert SolveConfig.flat(policy=SearchConfig(operator="swap"), patience=3).policy.operator == "swap"


def test_every_method_is_named_in_the_refusal():
    """An unknown search method is refused with the known ones."""
    with pytest.raises(ValueError, match=f"search 'tabu' is not one of auto, {', '.join(SEARCHES)}"):
        SolveConfig(search="tabu")


@pytest.mark.parametrize("group", [options.method, options.of_policy, options.of_hybrid, options.machine])
def test_options_have_the_defaults_of_their_settings(group):
    """The command line, which may not load the settings for its help, says the same as they do."""
    config = SolveConfig()
    records = [config, *(getattr(config, each.name) for each in fields(config))]
    known = {
        each.name: getattr(record, each.name) for record in records if is_dataclass(record) for each in fields(record)
    }
    for name, option in inspect.signature(group).parameters.items():
        assert option.default == known[name], name

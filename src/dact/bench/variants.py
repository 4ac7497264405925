"""Variants of a search by name, and settings that are varied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dact.instances import InputError
from dact.pipeline import SolveConfig

Value = int | float | str

VARIANTS: dict[str, Mapping[str, Value]] = {
    "usual": {},
    "pairs": {"kick": "pairs"},
    "nearby": {"kick": "nearby"},
    "bridge": {"kick": "bridge"},
    "ruin": {"kick": "ruin"},
    "policy": {"search": "policy"},
}
"""Settings of the variants that have names. `policy` searches without kicks and descents."""


@dataclass(frozen=True)
class Variant:
    """A search to be measured."""

    name: str
    settings: Mapping[str, Value]

    def config(self, **others: object) -> SolveConfig:
        """The settings of the solve, with limits, seed and device."""
        try:
            return SolveConfig.flat(**{"search": "hybrid", **others, **self.settings})
        except TypeError as error:
            raise InputError(f"variant '{self.name}': {error}") from None

    def with_setting(self, name: str, value: Value) -> "Variant":
        """The same with one setting changed, which its name tells."""
        own = f"{name}={value}"
        return Variant(own if not self.settings else f"{self.name}, {own}", {**self.settings, name: value})


def parse_variant(text: str) -> Variant:
    """`pairs`, `kick=pairs,kick_size=8`, or the same with a name of one's own before it: `small: kick_size=2`."""
    name, colon, rest = text.partition(":")
    settings = rest.strip() if colon else text.strip()
    if settings in VARIANTS:
        return Variant(name.strip() if colon else settings, VARIANTS[settings])
    parts = [part.strip() for part in settings.split(",")]
    if not all("=" in part for part in parts):
        raise InputError(f"variant '{text}' is not one of {', '.join(VARIANTS)}, nor of the form setting=value")
    pairs = [part.split("=", 1) for part in parts]
    return Variant(name.strip() if colon else settings, {key.strip(): _value(value) for key, value in pairs})


def varied(variants: Sequence[Variant], texts: Sequence[str]) -> list[Variant]:
    """Every variant with every value of the settings, each of the form setting=value,value."""
    found = list(variants)
    for text in texts:
        name, equals, values = text.partition("=")
        if not (name.strip() and equals and values.strip()):
            raise InputError(f"vary '{text}' is not of the form setting=value,value")
        found = [each.with_setting(name.strip(), _value(value)) for each in found for value in values.split(",")]
    return found


def _value(text: str) -> Value:
    """A number where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text.strip()

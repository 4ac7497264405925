"""Settings of a solve, for the API and the command line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, Self, get_args, get_type_hints

import torch

from dact.instances import STARTS
from dact.pipeline.methods import SEARCHES
from dact.search import AUTO, HybridConfig, SearchConfig, Stop, settled_precision, usual_walks

KINDS = {int: "a whole number", float: "a number", str: "text", type(None): "None", bool: "True or False"}
USUAL_STEPS = {"policy": 1000, "hybrid": 5_000}
"""Default steps without any limit: steps of the policy, rounds of the hybrid search."""
USUAL_POLICY = SearchConfig(operator=AUTO)


@dataclass(frozen=True, kw_only=True)
class SolveConfig:
    """Settings of a solve. A search method's own settings are a nested record, named as the method is.

    `SolveConfig.flat(steps=100, patience=20)` takes all of them by their plain names.
    """

    steps: int | None = None
    """Steps of the policy, or rounds of the hybrid search. None: no limit if there is a time limit, else
    USUAL_STEPS."""
    time_limit: float | None = None
    """Seconds for each instance."""
    target: float | None = None
    """Stop once the cost is this low."""
    augment: int = 1
    """Search this many of the eight symmetric copies of an instance in parallel."""
    start: str = "greedy"
    search: str = "policy"
    """The search method, one of SEARCHES; auto is hybrid, unless a setting of the policy search is given."""
    policy: SearchConfig = USUAL_POLICY
    """Settings of the policy search: operator, patience, tabu."""
    hybrid: HybridConfig = field(default_factory=HybridConfig)
    """Settings of the hybrid search: walks, kick, neighbours, temperature, and so on."""
    weights: str | None = None
    """A name or a file; None takes the shipped weights trained nearest to the size."""
    device: str = "auto"
    precision: str = "auto"
    """Of the policy: float32, tf32, float16 or bfloat16; auto is float16 on a GPU and float32 on a CPU."""
    seed: int = 0

    def __post_init__(self) -> None:
        _refuse_wrong_types(type(self), vars(self))
        if not 1 <= self.augment <= 8:
            raise ValueError(f"augment is {self.augment}, but must be 1 to 8")
        _refuse_unknown("start", self.start, STARTS)
        _refuse_unknown("search", self.search, (AUTO, *SEARCHES))
        if self.search == AUTO:
            object.__setattr__(self, "search", "policy" if self._asked_of_policy() else "hybrid")
        _refuse_unknown("device", self.device, ("auto", "cpu", "cuda"))
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device 'cuda' was asked for, but PyTorch sees no CUDA device")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed {self.seed} is not between 0 and 2^63 - 1")
        settled_precision(self.precision, self.torch_device())
        self._refuse_other_methods()
        self.stop()

    @classmethod
    def flat(cls, **settings: object) -> Self:
        """From settings by their plain names, including those of nested records; TypeError for unknown ones."""
        default, own = cls(), _names(cls)
        nested = {name: getattr(default, name) for name in own if is_dataclass(getattr(default, name))}
        known = {name: _names(type(value)) for name, value in nested.items()}
        _refuse_unknown_settings(settings, own.union(*known.values()))
        for record in (cls, *(type(value) for value in nested.values())):
            _refuse_wrong_types(record, settings)
        values: dict[str, Any] = {name: value for name, value in settings.items() if name in own}
        for name, value in nested.items():
            inner = {key: settings[key] for key in known[name] & settings.keys()}
            values[name] = replace(values.get(name, value), **inner)
        return cls(**values)

    def stop(self) -> Stop:
        """A fresh clock with these limits."""
        steps = USUAL_STEPS[self.search] if self.steps is None and self.time_limit is None else self.steps
        return Stop(steps=steps, seconds=self.time_limit, target=self.target)

    def copies(self, *, alone: bool) -> int:
        """Rows that search one instance. With `walks` 0, an instance that is solved alone fills the device."""
        if self.search != "hybrid":
            return self.augment
        return self.hybrid.walks or (usual_walks(self.torch_device()) if alone else 1)

    def _asked_of_policy(self) -> list[str]:
        """Settings of the policy search that differ from the defaults."""
        usual = {"augment": 1, "weights": None, "precision": AUTO}
        return [name for name in usual if getattr(self, name) != usual[name]] + _changed(self.policy, USUAL_POLICY)

    def _refuse_other_methods(self) -> None:
        """A setting that the chosen method does not use would be ignored silently."""
        other = "hybrid" if self.search == "policy" else "policy"
        asked = self._asked_of_policy() if other == "policy" else _changed(self.hybrid, HybridConfig())
        if asked:
            raise ValueError(f"{asked[0]} is a setting of the {other} search, which {self.search} does not use")

    def torch_device(self) -> torch.device:
        """The device to compute on."""
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)


def _changed(record: Any, usual: Any) -> list[str]:  # noqa: ANN401 - two dataclasses of one type
    """Names of the fields that differ from the defaults."""
    return [each.name for each in fields(record) if getattr(record, each.name) != getattr(usual, each.name)]


def _names(record: type) -> set[str]:
    return {each.name for each in fields(record)}


def _refuse_wrong_types(record: type, settings: Mapping[str, object]) -> None:
    """Otherwise a number in quotes would fail somewhere later with an error that does not name the setting."""
    for name, hint in get_type_hints(record).items():
        kinds = get_args(hint) or (hint,)
        if name in settings and not any(_is_a(settings[name], kind) for kind in kinds):
            wanted = " or ".join(KINDS.get(kind, kind.__name__) for kind in kinds)
            raise TypeError(f"{name} is {settings[name]!r:.60}, not {wanted}")


def _is_a(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    # NumPy's numbers are registered with these.
    return isinstance(value, Integral if kind is int else Real if kind is float else kind)


def _refuse_unknown(setting: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise ValueError(f"{setting} '{value}' is not one of {', '.join(known)}")


def _refuse_unknown_settings(settings: Iterable[str], known: set[str]) -> None:
    for name in settings:
        if name not in known:
            near = get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(sorted(known))}"
            raise TypeError(f"there is no setting '{name}': {hint}")

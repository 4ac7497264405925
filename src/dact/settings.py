"""Settings from TOML and `key=value` changes, checked against a dataclass of dataclasses."""

import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from dact.instances import InputError
from dact.instances.errors import brief, naming, shown
from dact.instances.files import read_text
from dact.instances.limits import MAX_NODES

CONFIG_BYTES = 2**16
"""Largest file; the shipped ones have a tenth of this."""
CONFIG_DOTS = 1000
"""Most dots in a file; the shipped ones have a tenth of this."""
RANGES = "sizes"
"""The setting that may be a range of numbers, such as "20-60/10"."""
LARGEST_NUMBER = 2**31 - 1
"""Largest absolute value of any setting."""
_FROM_ARRAYS = "dact.Instance.from_arrays(..., {0}=)"
_READING = "it belongs to dact.read(..., {0}=)"
_WRITING = "write the result with"
ELSEWHERE = {
    "capacity": f"{_READING} or {_FROM_ARRAYS}",
    "demand_unit": f"{_READING} or {_FROM_ARRAYS}",
    "vehicles": f"{_READING}, {_FROM_ARRAYS} or instance.with_vehicles(2)",
    "matrix": f"{_READING} or dact.Instance.from_matrix()",
    "max_nodes": _READING,
    "rounding": """it belongs to the instance: instance.with_rounding("nearest")""",
    "best_known": "it belongs to the instance: dataclasses.replace(instance, {0}=)",
    "seeds": "solve with seed=0, seed=1 and so on, and keep the best result",
    "out": f"{_WRITING} dact.write_solution(file, result.instance, result.routes, result.cost)",
    "out_format": f"{_WRITING} dact.write_solution(file, ...), where the name of the file says it",
    "plot": f"{_WRITING} dact.save_plot(result, file)",
    "animate": "watch the search with film = dact.Film(), then film.save(result, file)",
    "summary": "it is made of the fields of the results",
    "routes": "they are result.routes",
    "json": "its fields are those of the result",
}
"""Options of `dact solve` that are no settings, and what there is for them in Python."""


def read(path: Path) -> dict[str, Any]:
    """A TOML file as plain containers, without numbers that no setting has."""
    with naming(path):
        plain = parse(read_text(path, CONFIG_BYTES))
        _refuse_large(plain)
    return plain


def check_early(path: Path, changes: Sequence[str]) -> None:
    """Refuse a file, or `key=value` changes, for what can be seen without PyTorch, which the dataclasses need."""
    read(path)
    for key, _, text in (change.partition("=") for change in changes):
        _refuse_large({key.strip(): _value(text.strip())})


def parse(text: str) -> dict[str, Any]:
    """TOML as plain containers."""
    # Time and memory of Python's parser grow with the square of the parts of a key.
    if text.count(".") > CONFIG_DOTS:
        raise InputError(f"is not TOML of ours (it has {text.count('.')} dots)")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not TOML ({brief(error)})") from error


def changed(kind: Any, plain: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401
    """Apply `key=value` changes. A key that is unique among the tables needs no table name."""
    result = {key: dict(value) if isinstance(value, dict) else value for key, value in plain.items()}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"setting '{setting}' is not key=value")
        table, name = _place(kind, key.strip())
        (result.setdefault(table, {}) if table else result)[name] = _value(text.strip())
    return result


def build(kind: Any, plain: dict[str, Any], prefix: str = "") -> Any:  # noqa: ANN401 - any of the dataclasses
    """Build the dataclass; ValueError names the first wrong key."""
    hints = get_type_hints(kind)
    known = {each.name for each in fields(kind)}
    unknown = sorted(plain.keys() - known)
    if unknown:
        hint = _near(unknown[0], known, prefix) or f"; known here: {', '.join(sorted(known))}"
        raise ValueError(f"setting '{prefix}{unknown[0]}' is unknown{hint}")
    values = {key: _checked(hints[key], value, prefix + key) for key, value in plain.items()}
    missing = [each.name for each in fields(kind) if not _has_default(each) and each.name not in values]
    if missing:
        raise ValueError(f"settings are incomplete: {', '.join(prefix + name for name in missing)} missing")
    return kind(**values)


def _has_default(each: Field[Any]) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def _checked(wanted: Any, value: Any, key: str) -> Any:  # noqa: ANN401 - a type from an annotation
    if is_dataclass(wanted):
        if not isinstance(value, dict):
            raise ValueError(f"setting '{key}' is a table")
        return build(wanted, value, f"{key}.")
    if get_origin(wanted) is tuple:
        value = _span(value) if isinstance(value, str) else value
        items = value if isinstance(value, list | tuple) else (value,)
        return tuple(_checked(get_args(wanted)[0], item, key) for item in items)
    _refuse_large({key: value})
    if wanted is float and type(value) is int:
        return float(value)
    if wanted is str and type(value) is bool:
        return str(value).lower()
    if wanted is float and type(value) is float and not math.isfinite(value):
        raise ValueError(f"setting '{key}' is {value}, but must be a finite number")
    if type(value) is not wanted:
        raise ValueError(f"setting '{key}' is {shown(value)}, but must be of type {wanted.__name__}")
    return value


def _refuse_large(plain: dict[str, Any]) -> None:
    """Numbers beyond LARGEST_NUMBER, and long ranges of sizes, are refused by the name of their setting."""
    waiting = list(plain.items())
    for key, value in waiting:
        if isinstance(value, dict):
            waiting += [(f"{key:.60}.{name}", inner) for name, inner in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(key, inner) for inner in value]
        elif type(value) is int and abs(value) > LARGEST_NUMBER:
            raise InputError(f"setting '{key:.60}' is {shown(value)}, but must be at most {LARGEST_NUMBER} in size")
        elif isinstance(value, str) and key == RANGES:
            _span(value)


def literal(value: object) -> str:
    """The value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(list(value) if isinstance(value, tuple) else value)


def refuse_options(names: Iterable[str]) -> None:
    """Refuse options of `dact solve` that are no settings, and say where they belong."""
    for name in names:
        if name in ELSEWHERE:
            raise TypeError(f"there is no setting '{name}': {ELSEWHERE[name].format(name)}")


def check_size(size: int) -> None:
    """Refuse sizes below 4, or above the limit of the readers."""
    if not 4 <= size <= MAX_NODES:
        raise InputError(f"size {size} is {'below 4' if size < 4 else f'above {MAX_NODES}'}")


def _tables(kind: Any) -> dict[str, type]:  # noqa: ANN401
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind) if is_dataclass(hints[each.name])}


def _place(kind: Any, key: str) -> tuple[str, str]:  # noqa: ANN401
    own, tables = {each.name for each in fields(kind)}, _tables(kind)
    table, _, name = key.rpartition(".")
    if table in own - tables.keys():
        raise ValueError(f"setting '{table}' is no table, so that it has no '{name}'")
    if table or key in own:
        return table, name
    homes = [table for table, part in tables.items() if key in {each.name for each in fields(part)}]
    if len(homes) > 1:
        raise ValueError(f"setting '{key}' is in several tables: {', '.join(f'{home}.{key}' for home in homes)}")
    if not homes:
        inner = {each.name for part in tables.values() for each in fields(part)}
        raise ValueError(f"setting '{key}' is unknown{_near(key, own | inner)}")
    return homes[0], key


def _near(name: str, known: Iterable[str], prefix: str = "") -> str:
    """A suggestion for a misspelt name, if there is a similar one."""
    near = get_close_matches(name, sorted(known), n=1)
    return f"; did you mean '{prefix}{near[0]}'?" if near else ""


def _value(text: str) -> Any:  # noqa: ANN401 - whatever TOML can say
    try:
        return parse(f"value = {text}")["value"]
    except InputError:
        return text


def _span(text: str) -> list[int] | str:
    """The numbers of a range such as "20-60/10"; anything else unchanged."""
    found = re.fullmatch(r"(\d+)-(\d+)(?:/(\d+))?", text.strip())
    if found is None:
        return text
    if max(len(part or "") for part in found.groups()) > 9:
        raise InputError(f"range {text.strip()[:60]} is too large")
    low, high, step = (int(part or 1) for part in found.groups())
    check_size(high)
    return list(range(low, high + 1, step)) if low <= high and step > 0 else text

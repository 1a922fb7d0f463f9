"""What all results have in common, and how they come from JSON.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import dataclasses
import functools
import json
import keyword
import os
import pathlib
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Optional, Tuple, Type, TypeVar, Union

from .errors import SchemaError

if TYPE_CHECKING:
    import pandas

    from matplotlib.figure import Figure

T = TypeVar("T")
Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval; all three are the same where the number is exact, None is unknown."""

    value: Optional[float]
    low: Optional[float]
    high: Optional[float]

    def __float__(self) -> float:
        return float("nan") if self.value is None else self.value

    def __str__(self) -> str:
        if self.value is None:
            return "unknown"
        if self.low is None and self.high is None or self.low == self.high:
            return f"{self.value:.4g}"
        return f"{self.value:.4g} ({_end(self.low)} to {_end(self.high)})"


def _end(number: Optional[float]) -> str:
    return "?" if number is None else f"{number:.4g}"


@dataclass(frozen=True, repr=False)
class Result:
    """A result of a verb. Its other fields are the keys of the JSON, which docs/reference/formats describes."""

    SCHEMA: ClassVar[str] = ""

    schema: str
    version: str
    verdict: str
    notes: List[str]
    raw: Dict[str, Any] = field(repr=False, compare=False)
    exit_code: int = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict}>"

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"- {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        from .display import result_html

        return result_html(self)

    def frame(self, key: Optional[str] = None) -> "pandas.DataFrame":
        """Return a list of the result as a DataFrame, one row per item: that at KEY ("explain.parts"), or the main one of its kind."""
        from .frames import result_frame

        return result_frame(self, key)

    def plot(self, **settings: Any) -> "Figure":
        """Draw it with matplotlib, if this kind has a figure (idlewave.figures)."""
        from .figures import plot

        return plot(self, **settings)

    def text(self) -> str:
        """Return it as the command prints it."""
        from .verbs import shown

        return shown(self, "text")

    def page(self) -> str:
        """Return it as one self-contained HTML page."""
        from .verbs import shown

        return shown(self, "html")

    def save(self, path: Path) -> None:
        """Write the JSON, for `idlewave.load()` and `idlewave report`."""
        pathlib.Path(path).write_text(json.dumps(self.raw, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


@functools.lru_cache(maxsize=None)
def _members(kind: type) -> "Dict[str, Any]":
    names = [member.name for member in dataclasses.fields(kind) if member.name not in ("raw", "exit_code")]
    hints = typing.get_type_hints(kind)
    return {name: hints[name] for name in names}


def _key(name: str) -> str:
    """Python's own words have an underscore at their end."""
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def _values(kind: type, data: Any, where: str) -> Dict[str, Any]:
    if not isinstance(data, dict):
        raise SchemaError(f"{where}: expected an object")
    values = {}
    for name, hint in _members(kind).items():
        key = _key(name)
        if key not in data and not _is_optional(hint):
            raise SchemaError(f"{where}: key '{key}' is missing")
        values[name] = decode(hint, data.get(key), f"{where}.{key}")
    return values


def _is_optional(hint: Any) -> bool:
    return typing.get_origin(hint) is Union


def decode(hint: Any, value: Any, where: str) -> Any:
    """VALUE of JSON as what HINT says. Words that a later version adds to a list of words pass."""
    if _is_optional(hint):
        return None if value is None else decode(typing.get_args(hint)[0], value, where)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        if not isinstance(value, list):
            raise SchemaError(f"{where}: expected a list")
        return [decode(inner[0], item, f"{where}[{i}]") for i, item in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            raise SchemaError(f"{where}: expected an object")
        return {name: decode(inner[1], item, f"{where}.{name}") for name, item in value.items()}
    if dataclasses.is_dataclass(hint):
        return hint(**_values(typing.cast(type, hint), value, where))
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and not isinstance(value, hint):
        raise SchemaError(f"{where}: '{value}' is not of type {hint.__name__}")
    return value


R = TypeVar("R", bound=Result)


# older schemas that are read: what they are now, and what became of keys, wherever they stand
_OLDER: Dict[str, Tuple[str, Dict[str, str]]] = {
    "idlewave.stragglers/1": ("idlewave.stragglers/2", {"slowdown": "factor"}),
    "idlewave.simulate/3": ("idlewave.simulate/4", {}),
    "idlewave.whatif/2": ("idlewave.whatif/3", {}),
    "idlewave.check/2": ("idlewave.check/3", {}),
    "idlewave.verify/2": ("idlewave.verify/3", {}),
    "idlewave.noise/3": ("idlewave.noise/4", {}),
    "idlewave.noise-compare/2": ("idlewave.noise-compare/3", {}),
    "idlewave.model/2": ("idlewave.model/3", {}),
    "idlewave.fleet/2": ("idlewave.fleet/3", {}),
    "idlewave.watch/2": ("idlewave.watch/3", {}),
    "idlewave.waits/1": ("idlewave.waits/2", {}),
    "idlewave.machine/1": ("idlewave.machine/2", {}),
    "idlewave.record/3": ("idlewave.record/4", {}),
    "idlewave.noise-edit/3": ("idlewave.noise-edit/4", {}),
}


def _renamed(value: Any, names: Dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
    return [_renamed(item, names) for item in value] if isinstance(value, list) else value


def _check_schema(schema: str, kinds: "Dict[str, Type[Result]]") -> "Type[Result]":
    if schema in kinds:
        return kinds[schema]
    name = schema.partition("/")[0]
    for known in kinds:
        if known.partition("/")[0] == name:
            raise SchemaError(f"the result is '{schema}', but this package reads '{known}': command and package are of "
                              "different versions; install the same version of both")
    raise SchemaError(f"'{schema}' is not a kind of result that this package knows")


def result_from_json(data: Any, exit_code: int = 0) -> Result:
    """The result that an object of JSON is, of the class of its kind."""
    from . import kinds

    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str):
        raise SchemaError("not a result of idlewave: key 'schema' is missing")
    classes = {getattr(kinds, name).SCHEMA: getattr(kinds, name) for name in kinds.__all__}
    if schema in _OLDER:
        schema, names = _OLDER[schema]
        data = {**_renamed(data, names), "schema": schema}
    kind = _check_schema(schema, classes)
    return kind(raw=data, exit_code=exit_code, **_values(kind, data, schema))

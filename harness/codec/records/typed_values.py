"""Plain values from somewhere else, each asked for by its type; a complaint says where."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, TypeVar

from harness.codec.records.errors import RecordsError

T = TypeVar("T")


class Values:
    """An object's values by name. Every method raises RecordsError with ``path``."""

    def __init__(self, values: Any, path: str) -> None:
        self.path = path
        if not isinstance(values, Mapping):
            raise RecordsError(f"{path}: an object expected, not {named(values)}", path=path)
        self.values = values

    def number(self, name: str, default: int, bits: int = 64) -> int:
        found = self.values.get(name, default)
        if type(found) is not int:
            raise self.bad(name, f"an integer expected, not {named(found)}")
        if not -(1 << bits - 1) <= found < 1 << bits - 1:
            raise self.bad(name, f"{found} does not fit {bits} bits")
        return found

    def flag(self, name: str) -> bool:
        found = self.values.get(name, False)
        if type(found) is not bool:
            raise self.bad(name, f"true or false expected, not {named(found)}")
        return found

    def one_of(self, name: str, default: str, allowed: Mapping[str, T]) -> T:
        found = self.values.get(name, default)
        if not isinstance(found, str) or found not in allowed:
            raise self.bad(name, f"{named(found)} is none of {', '.join(allowed)}")
        return allowed[found]

    def data(self, name: str) -> bytes | None:
        return from_hex(self.values.get(name), f"{self.path}.{name}")

    def list(self, name: str) -> list[Any]:
        found = self.values.get(name, [])
        if not isinstance(found, list):
            raise self.bad(name, f"a list expected, not {named(found)}")
        return found

    def only(self, known: Set[str]) -> None:
        for name in self.values:
            if name not in known:
                raise self.bad(name, f"no such value; there are {', '.join(sorted(known))}")

    def bad(self, name: str, problem: str) -> RecordsError:
        path = f"{self.path}.{name}"
        return RecordsError(f"{path}: {problem}", path=path)


def named(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) < 40 else type(value).__name__


def from_hex(value: Any, path: str) -> bytes | None:
    if value is None:
        return None
    try:
        return bytes.fromhex(value)
    except (TypeError, ValueError) as error:
        raise RecordsError(f"{path}: hex digits or null expected: {error}", path=path) from error

"""The test of a field: a value, one of several, or bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.specs import FieldSpec
from harness.proxies.rules.errors import RuleError, unknown
from harness.proxies.rules.values import error_number, is_error_code, table

PLAIN = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class WantedFrames:
    """A test of a plain value, and the words for it."""

    test: Callable[[Any], bool]
    words: str


def plain(value: Any) -> Any:
    """Return a value in the form that rules have: UUIDs as text, bytes as hex."""
    if isinstance(value, UUID):
        return str(value)
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else value


def in_words(value: Any, field: FieldSpec) -> str:
    """A value that a frame holds, for people."""
    if is_error_code(field.name) and isinstance(value, int):
        return ErrorCode.describe(value)
    shown = repr(plain(value))
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


_SHOWN = 80


def _at_least(bound: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and value >= bound


def _at_most(bound: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and value <= bound


def _is_not(other: Any) -> Callable[[Any], bool]:
    return lambda value: bool(plain(value) != other)


_TESTS: dict[str, Callable[[Any], Callable[[Any], bool]]] = {
    "at_least": _at_least,
    "at_most": _at_most,
    "not": _is_not,
}


def read_wanted(value: Any, field: FieldSpec) -> WantedFrames:
    """``6``, ``"NOT_COORDINATOR"``, ``[6, 7]`` or ``{at_least = 1, at_most = 5, not = 3}``."""
    if isinstance(value, Mapping):
        return _bounds(value, field)
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values:
        raise RuleError("must not be an empty list")
    wanted = [_one(one, field) for one in values]
    words = " or ".join(in_words(one, field) for one in wanted)
    return WantedFrames(lambda held: plain(held) in wanted, words)


def _bounds(value: Any, field: FieldSpec) -> WantedFrames:
    tests, words = [], []
    for name, bound in table(value).items():
        if name not in _TESTS:
            raise unknown("test of a field", name, _TESTS)
        checked = _one(bound, field)
        tests.append(_TESTS[name](checked))
        words.append(f"{name.replace('_', ' ')} {in_words(checked, field)}")
    return WantedFrames(lambda held: all(test(held) for test in tests), " and ".join(words))


def _one(value: Any, field: FieldSpec) -> Any:
    if is_error_code(field.name):
        return error_number(value)
    if value is not None and not isinstance(value, PLAIN):
        raise RuleError(f"must be a plain value, is {value!r}")
    kind = field.element if field.kind == "array" else field.kind
    if kind == "struct":
        raise RuleError(f"{field.name} is a structure; name a field in it")
    fits = _TYPES.get(kind, int)
    if value is not None and (type(value) is bool) != (fits is bool):
        raise RuleError(f"{field.name} is {kind}, {value!r} is not")
    if value is not None and not isinstance(value, fits):
        raise RuleError(f"{field.name} is {kind}, {value!r} is not")
    return value


_TYPES: dict[str, Any] = {
    "bool": bool,
    "string": str,
    "bytes": str,
    "records": str,
    "uuid": str,
    "float64": (int, float),
}
"""Types of the values that a rule has for a kind of field; the others are whole numbers."""

"""Readers of the values in a rule: a value of TOML or JSON in, a checked one out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from harness.codec.error_code import ErrorCode
from harness.proxies.rules.errors import RuleError, unknown

T = TypeVar("T")
Read = Callable[[Any], T]
INT32 = (-(2**31), 2**31 - 1)
LONGEST_MS = 24 * 3600 * 1000.0


def integer(low: int, high: int | None = None) -> Read[int]:
    """A whole number in these bounds."""

    def read(value: Any) -> int:
        if type(value) is not int or value < low or (high is not None and value > high):
            bounds = f"{low} to {high}" if high is not None else f"of {low} at least"
            raise RuleError(f"must be a whole number {bounds}, is {value!r}")
        return value

    return read


def number(low: float, high: float, unit: str = "") -> Read[float]:
    """A number in these bounds, as a float."""

    def read(value: Any) -> float:
        good = type(value) in (int, float) and not math.isnan(value) and low <= value <= high
        if not good:
            raise RuleError(f"must be a number{unit} from {low:g} to {high:g}, is {value!r}")
        return float(value)

    return read


milliseconds = number(0, LONGEST_MS, " of milliseconds")


def text(value: Any) -> str:
    """Text that is not empty."""
    if not isinstance(value, str) or not value:
        raise RuleError(f"must be text that is not empty, is {value!r}")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise RuleError(f"must be true or false, is {value!r}")
    return value


def yes(value: Any) -> bool:
    """A flag that is only ever set."""
    if value is not True:
        raise RuleError(f"must be true, or left out; is {value!r}")
    return value


def hexadecimal(value: Any) -> bytes:
    """Bytes as hex digits, at least one."""
    digits = text(value)
    try:
        raw = bytes.fromhex(digits)
    except ValueError:
        raise RuleError(f"must be pairs of hex digits, is {value!r}") from None
    if not raw:
        raise RuleError("must be one byte at least")
    return raw


def choice(kind: str, names: Iterable[str]) -> Read[str]:
    """One of these names."""
    known = list(names)

    def read(value: Any) -> str:
        if value not in known:
            raise unknown(kind, value, known)
        return str(value)

    return read


def one_or_more(read: Read[T]) -> Read[tuple[T, ...]]:
    """A value, or a list of some."""

    def read_all(value: Any) -> tuple[T, ...]:
        values = value if isinstance(value, list | tuple) else [value]
        if not values:
            raise RuleError("must not be an empty list")
        return tuple(read(one) for one in values)

    return read_all


def table(value: Any) -> Mapping[str, Any]:
    """A table that is not empty."""
    if not isinstance(value, Mapping) or not value:
        raise RuleError(f"must be a table that is not empty, is {value!r}")
    for key in value:
        if not isinstance(key, str):
            raise RuleError(f"keys of a table are text, {key!r} is not")
    return value


def error_number(value: Any) -> int:
    """A number of an error code, from its name or as it is."""
    if isinstance(value, str):
        if value not in ErrorCode.__members__:
            raise unknown("error code", value, ErrorCode.__members__)
        return int(ErrorCode[value])
    return integer(-(2**15), 2**15 - 1)(value)


def is_error_code(field: str) -> bool:
    """True if a field holds an error code, by its name."""
    return field == "error_code" or field.endswith("_error_code")

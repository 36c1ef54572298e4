"""The attributes of toxics: what values they may have, said where they are declared."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from harness.base.suggestion import did_you_mean

Check = Callable[[Any], Any]
"""Returns the value in the form in which it is kept; raises ValueError with what it must be."""


class BadAttribute(ValueError):
    """An attribute that a toxic does not have, or a value that cannot be."""


def number(default: float = 0, *, at_least: float = 0, at_most: float = math.inf) -> Any:
    """A field for a number, whole or not."""

    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("must be a number")
        if not (math.isfinite(value) and at_least <= value <= at_most):
            raise ValueError(f"must be {_range(at_least, at_most)}")
        return value

    return _field(default, check)


def whole(default: int | None = 0, *, at_least: int = 0, at_most: float = math.inf) -> Any:
    """A field for a whole number; where the default is None, None may be given too."""

    def check(value: Any) -> Any:
        if value is None and default is None:
            return None
        return _whole(value, at_least, at_most)

    return _field(default, check)


def whole_numbers(*, at_least: int = 0) -> Any:
    """A field for a list of whole numbers, kept sorted and each once; empty by default."""

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise ValueError("must be a list of whole numbers")
        return tuple(sorted({_whole(one, at_least, math.inf) for one in value}))

    return _field((), check)


def choice(*names: str) -> Any:
    """A field for one of these names; the first is the default."""

    def check(value: Any) -> Any:
        if value not in names:
            hint = did_you_mean(value, names) if isinstance(value, str) else ""
            raise ValueError(f"must be one of {', '.join(names)}{hint}")
        return value

    return _field(names[0], check)


def checked(owner: str, field: dataclasses.Field[Any], value: Any) -> Any:
    """The value as it is kept; raises BadAttribute that names ``owner`` and the attribute."""
    check: Check | None = field.metadata.get("check")
    if check is None:
        return value
    try:
        return check(value)
    except ValueError as error:
        raise BadAttribute(f"{owner}: {field.name} {error}, not {value!r}") from None


def _field(default: Any, check: Check) -> Any:
    return dataclasses.field(default=default, metadata={"check": check})


def _whole(value: Any, at_least: float, at_most: float) -> int:
    if isinstance(value, float) and value.is_integer():  # JSON knows no other numbers
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole number")
    if not at_least <= value <= at_most:
        raise ValueError(f"must be {_range(at_least, at_most)}")
    return value


def _range(at_least: float, at_most: float) -> str:
    if math.isinf(at_most):
        return f"at least {at_least}"
    return f"from {at_least} to {at_most}"

"""A line of a file beside the journal, against the table of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

NOTHING: Final = type(None)
_BIGGEST: Final = {"int": 2**31, "long": 2**63}


class LineField(NamedTuple):
    """``kinds``: the types of its values in JSON; ``words`` say so; ``choices``: all that may be.

    A whole number is not negative, and fits ``int`` (4 bytes) or ``long`` (8 bytes).
    """

    kinds: tuple[type, ...]
    words: str
    choices: tuple[str, ...] = ()
    size: str = "int"


def check_fields(
    values: Mapping[str, Any],
    fields: Mapping[str, LineField],
    where: str,
    wrong: type[Exception],
) -> None:
    """Raises ``wrong``, naming the field, unless ``values`` hold what ``fields`` say, no more."""
    for name in values.keys() - fields.keys():
        raise wrong(f'{where}: no field is called "{name}"')
    for name, field in fields.items():
        value = values.get(name)
        strange = type(value) not in field.kinds
        strange |= bool(field.choices) and value is not None and value not in field.choices
        strange |= type(value) is int and not 0 <= value < _BIGGEST[field.size]
        if strange:
            raise wrong(f"{where}: {name} must be {field.words}, not {value!r}")

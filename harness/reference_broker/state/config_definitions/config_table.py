"""Tables of configs: tab-separated files with a line for each definition.

The first line names the columns; lines that begin with # are comments. Columns called like a field
of ConfigDefinition make the definition. An absent column or an empty cell stands for the field's
default; `choices` are separated by commas, `pattern` is a name of `config_patterns.py`, `since` and
`until` are releases such as 0.10.1.
"""

from collections.abc import Mapping
from typing import NamedTuple, get_args

from harness.codec.package_text import package_text
from harness.reference_broker.state.config_definitions.config_patterns import PATTERNS
from harness.reference_broker.state.config_definitions.config_values import (
    ConfigDefinition,
    ConfigType,
)


class ConfigRow(NamedTuple):
    """One line: its definition, and the cells of the table's own columns."""

    definition: ConfigDefinition
    own: Mapping[str, str]


def config_table(package: str, file: str) -> list[ConfigRow]:
    """Return the lines of a file of `package`, in their order.

    Raises ValueError: a line has too few or too many cells; KeyError: no such type or pattern.
    """
    lines = package_text(package, file).splitlines()
    columns, *rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return [_row(dict(zip(columns, row, strict=True))) for row in rows]


_TYPES: Mapping[str, ConfigType] = {known: known for known in get_args(ConfigType)}


def _row(cells: dict[str, str]) -> ConfigRow:
    choices, pattern = cells.pop("choices", ""), cells.pop("pattern", "")
    since, until = cells.pop("since", ""), cells.pop("until", "")
    definition = ConfigDefinition(
        cells.pop("name"),
        _TYPES[cells.pop("type")],
        cells.pop("default"),
        _limit(cells.pop("at_least", "")),
        _limit(cells.pop("at_most", "")),
        tuple(choices.split(",")) if choices else (),
        cells.pop("broker_setting", "") or None,
        _limit(cells.pop("also", "")),
        PATTERNS[pattern] if pattern else None,
        _release(since) if since else (),
        _release(until) if until else None,
    )
    return ConfigRow(definition, cells)


def _limit(text: str) -> float | None:
    return float(text) if text else None


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))

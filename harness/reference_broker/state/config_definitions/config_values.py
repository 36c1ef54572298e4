"""Names of configurations with their types, defaults and limits, and the parsing of their text."""

import math
import re
from dataclasses import dataclass
from typing import Literal

ConfigValue = int | float | bool | str | tuple[str, ...]
ConfigType = Literal[
    "int", "long", "double", "boolean", "string", "list", "short", "class", "password"
]

# Numbers as Java reads them: digits of any script, blanks up to U+0020 around them.
_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")
_BLANKS = "".join(map(chr, range(0x21)))
_RANGES = {
    "short": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
}
_BOOLEANS = {"true": True, "false": False}


class ConfigError(ValueError):
    """A configuration name or value that cannot be used; the message contains it and the reason."""


@dataclass(frozen=True, slots=True)
class ConfigDefinition:
    """One configuration: `default` is text, as a user would write it.

    `broker_setting` is the name of the broker setting that gives a topic its default, if there is
    one. `also` is a value outside the limits that is legal as well. `pattern` is a regular
    expression for the whole text. `since` is the first release of Kafka with this definition,
    `until` the first one without it.
    """

    name: str
    type: ConfigType
    default: str
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()
    broker_setting: str | None = None
    also: float | None = None
    pattern: str | None = None
    since: tuple[int, ...] = ()
    until: tuple[int, ...] | None = None

    def parse(self, text: str) -> ConfigValue:
        """Return the typed value of `text`. Raises ConfigError if it has no value of this type."""
        value = _READERS[self.type](self, text.strip(_BLANKS))
        self._check_limits(value, text)
        if self.pattern is not None and text and not re.fullmatch(self.pattern, text.strip()):
            raise ConfigError(f"Invalid value {text} for configuration {self.name}")
        return value

    def shown(self, text: str) -> str:
        """Return `text` as clients receive it: in its type's form, each item of a list once."""
        value = self.parse(text)
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float):
            return _as_java_writes(value)
        return ",".join(dict.fromkeys(value)) if isinstance(value, tuple) else str(value)

    def _check_limits(self, value: ConfigValue, text: str) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value != self.also:
            if self.at_least is not None and value < self.at_least:
                raise ConfigError(
                    f"Invalid value {text} for configuration {self.name}: "
                    f"must be at least {self.at_least:g}"
                )
            if self.at_most is not None and value > self.at_most:
                raise ConfigError(
                    f"Invalid value {text} for configuration {self.name}: "
                    f"must be no more than {self.at_most:g}"
                )
        if self.choices:
            for item in value if isinstance(value, tuple) else (value,):
                if item not in self.choices:
                    raise ConfigError(
                        f"Invalid value {item} for configuration {self.name}: "
                        f"must be one of {', '.join(self.choices)}"
                    )


def _as_java_writes(value: float) -> str:
    """Return a double as Java prints it: Java changes to an exponent earlier than Python."""
    if not math.isfinite(value) or value == 0 or 1e-3 <= abs(value) < 1e7:
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))
    from decimal import Decimal

    digits, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def _read_integer(definition: ConfigDefinition, text: str) -> ConfigValue:
    low, high = _RANGES[definition.type]
    if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
        raise ConfigError(
            f"Invalid value {text} for configuration {definition.name}: "
            f"not a number of type {definition.type.upper()}"
        )
    return int(text)


def _read_double(definition: ConfigDefinition, text: str) -> ConfigValue:
    if not _DOUBLE.fullmatch(text):
        raise ConfigError(
            f"Invalid value {text} for configuration {definition.name}: not a number of type DOUBLE"
        )
    return float(text.rstrip("fFdD"))


def _read_boolean(definition: ConfigDefinition, text: str) -> ConfigValue:
    value = _BOOLEANS.get(text.lower())
    if value is None:
        raise ConfigError(
            f"Invalid value {text} for configuration {definition.name}: expected true or false"
        )
    return value


def _read_string(_definition: ConfigDefinition, text: str) -> ConfigValue:
    return text


def _read_list(_definition: ConfigDefinition, text: str) -> ConfigValue:
    return tuple(item.strip() for item in text.split(",")) if text else ()


_READERS = {
    "int": _read_integer,
    "long": _read_integer,
    "short": _read_integer,
    "double": _read_double,
    "boolean": _read_boolean,
    "string": _read_string,
    "list": _read_list,
    "class": _read_string,
    "password": _read_string,
}

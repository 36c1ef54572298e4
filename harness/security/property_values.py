"""The entries of a client's properties file, checked against the known settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from harness.base.suggestion import did_you_mean
from harness.security.errors import SecurityError
from harness.security.known_settings import IGNORED, KNOWN, READ, REFUSED
from harness.security.properties import Property, read_properties
from harness.security.secret import Secret

E = TypeVar("E", bound=StrEnum)
_VARIABLE = re.compile(r"\$\{([^:}]*):([^}]*)\}")
_ENVIRONMENT = "env"


class PropertyValues:
    """The values by key; every error has the file and the line, and no value of a secret."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        """Raises SecurityError: not readable, an unknown key, one given twice."""
        self.path, self._environment = path, environment
        self._entries: dict[str, Property] = {}
        for entry in read_properties(path):
            self._add(entry)

    def _add(self, entry: Property) -> None:
        before = self._entries.setdefault(entry.key, entry)
        if before is not entry:
            raise self._error(entry, f"is given twice, first in line {before.line}")
        if entry.key in REFUSED:
            raise self._error(entry, REFUSED[entry.key])
        if entry.key not in KNOWN:
            near = did_you_mean(entry.key, READ) or did_you_mean(entry.key, IGNORED)
            raise self._error(entry, f"is no setting of Kafka's clients that is known here{near}")

    def fail(self, key: str, problem: str) -> SecurityError:
        """Return the error about a setting, with its line where it is in the file."""
        entry = self._entries.get(key)
        return self._error(entry, problem) if entry else SecurityError(
            f"{self.path}: {key}: {problem}"
        )  # fmt: skip

    def _error(self, entry: Property, problem: str) -> SecurityError:
        return SecurityError(f"{self.path}:{entry.line}: {entry.key}: {problem}")

    def read_keys(self) -> list[str]:
        """The given settings that are about connections, in the order of the file."""
        return [key for key in self._entries if key in READ]

    def has(self, key: str) -> bool:
        """True if the file has the setting, with or without a value."""
        return key in self._entries

    def get(self, *keys: str) -> str:
        """The value of the one of these keys that is given; empty without. Names of one meaning.

        Raises SecurityError: two of them are given.
        """
        given = self.given(*keys)
        return self._value(given) if given else ""

    def given(self, *keys: str) -> str:
        """The one of these keys that is given, or an empty text. Raises SecurityError: two are."""
        there = [key for key in keys if key in self._entries]
        if len(there) > 1:
            raise self.fail(there[1], f"contradicts {there[0]}: give one of the two")
        return there[0] if there else ""

    def secret(self, *keys: str) -> Secret | None:
        """The value as a secret; None without one."""
        text = self.get(*keys)
        return Secret(text) if text else None

    def file(self, *keys: str) -> Path | None:
        """The value as a path of a file that exists; None without a value."""
        text = self.get(*keys)
        if not text:
            return None
        path = self.path.parent / text
        if not path.is_file():
            raise self.fail(self.given(*keys), f"there is no file {path}")
        return path

    def one_of(self, key: str, known: type[E], default: E) -> E:
        """The value as a member of an enumeration, in any case of letters."""
        text = self.get(key).strip().upper()
        if not text:
            return default
        try:
            return known(text)
        except ValueError:
            near = did_you_mean(text, known)
            raise self.fail(key, f"{text!r} is not known{near}; known: {listed(known)}") from None

    def _value(self, key: str) -> str:
        return _VARIABLE.sub(lambda found: self._variable(key, found), self._entries[key].value)

    def _variable(self, key: str, found: re.Match[str]) -> str:
        provider, name = found.groups()
        if provider != _ENVIRONMENT:
            raise self.fail(key, f"${{{provider}:...}} is not read; write ${{env:NAME}}")
        if name not in self._environment:
            raise self.fail(key, f"the environment has no variable {name}")
        return self._environment[name]


def listed(names: Sequence[str] | type[StrEnum]) -> str:
    """The names for an error message."""
    return ", ".join(str(each) for each in names)

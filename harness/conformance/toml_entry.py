"""Reading our TOML files strictly: every key is known, typed and named in errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Any

from harness.base.suggestion import did_you_mean


class TomlEntry:
    """One TOML table; callers take its keys one by one, and `finish` rejects the remaining ones.

    Args:
        values: the parsed table.
        where: file and place, for messages.
        error: the exception to raise; its message says which file, which entry and what.
    """

    def __init__(self, values: dict[str, Any], where: str, error: type[ValueError]) -> None:
        self.where = where
        self.error = error
        self._place = where
        self._values = dict(values)
        self._asked: set[str] = set()

    def named(self, name: str) -> None:
        """Say the entry's own name in errors from here on."""
        self.where = f"{self._place} ({name})"

    def text(
        self, key: str, *, pattern: str | None = None, among: Collection[str] | None = None
    ) -> str:
        """Take a non-empty string that matches the pattern or is one of the given ones."""
        value = self._take(key)
        if value is None:
            raise self.error(f"{self.where}: {key}: is missing{did_you_mean(key, self._values)}")
        return self._checked_text(key, value, pattern, among)

    def optional_text(self, key: str, *, pattern: str | None = None) -> str | None:
        """Take a string if it is there."""
        value = self._take(key)
        return None if value is None else self._checked_text(key, value, pattern, None)

    def texts(self, key: str, *, among: Collection[str] | None = None) -> tuple[str, ...]:
        """Take a non-empty list of distinct strings."""
        values = self._list(key, among=among)
        if not values:
            raise self.error(f"{self.where}: {key}: is missing or empty")
        return values

    def optional_texts(self, key: str, *, pattern: str | None = None) -> tuple[str, ...]:
        """Take a list of distinct strings, empty when the key is absent."""
        return self._list(key, pattern=pattern)

    def optional_version(self, key: str) -> int | None:
        """Take an API version (0 and up) if it is there."""
        value = self._take(key)
        if value is not None and (type(value) is not int or value < 0):
            raise self.error(f"{self.where}: {key}: {value!r} is not an API version")
        return value

    def optional_date(self, key: str) -> date | None:
        """Take a TOML date (written without quotes and without a time) if it is there."""
        value = self._take(key)
        if value is not None and type(value) is not date:
            raise self.error(
                f"{self.where}: {key}: {value!r} is not a date; write it bare, as 2027-01-31"
            )
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        """Take a table as it is, possibly empty."""
        value = self._take(key)
        if not isinstance(value, dict):
            raise self.error(f"{self.where}: {key}: is missing or not a table {{ ... }}")
        return value

    def optional_mapping(self, key: str) -> dict[str, Any]:
        """Take a table as it is, empty when the key is absent."""
        self._asked.add(key)
        return self.mapping(key) if key in self._values else {}

    def fixed(self, key: str, value: int) -> None:
        """Take a number that must be exactly this one."""
        found = self._take(key)
        if type(found) is not int or found != value:
            raise self.error(f"{self.where}: {key}: must be {value}, is {found!r}")

    def entries(self, key: str) -> list[TomlEntry]:
        """Take a non-empty array of tables."""
        entries = self.optional_entries(key)
        if not entries:
            raise self.error(f"{self.where}: {key}: needs at least one [[{key}]]")
        return entries

    def optional_entries(self, key: str) -> list[TomlEntry]:
        """Take an array of tables, empty when the key is absent."""
        values = self._take(key)
        if values is None:
            return []
        if not isinstance(values, list) or not all(isinstance(v, dict) for v in values):
            raise self.error(f"{self.where}: {key}: is not an array of tables [[{key}]]")
        return [
            TomlEntry(value, f"{self.where}: {key} number {place}", self.error)
            for place, value in enumerate(values, start=1)
        ]

    def finish(self) -> None:
        """Raise the entry's error for a key that was never taken."""
        for key in self._values:
            raise self.error(f"{self.where}: {key}: unknown key{did_you_mean(key, self._asked)}")

    def _take(self, key: str) -> Any:
        self._asked.add(key)
        return self._values.pop(key, None)

    def _list(
        self,
        key: str,
        *,
        pattern: str | None = None,
        among: Collection[str] | None = None,
    ) -> tuple[str, ...]:
        value = self._take(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.error(f"{self.where}: {key}: is not a list of strings")
        values = tuple(self._checked_text(key, item, pattern, among) for item in value)
        for item in values:
            if values.count(item) > 1:
                raise self.error(f'{self.where}: {key}: "{item}" occurs twice')
        return values

    def _checked_text(
        self, key: str, value: Any, pattern: str | None, among: Collection[str] | None
    ) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{self.where}: {key}: {value!r} is not a non-empty string")
        if pattern is not None and re.fullmatch(pattern, value) is None:
            raise self.error(f'{self.where}: {key}: "{value}" does not have the right form')
        if among is not None and value not in among:
            raise self.error(
                f'{self.where}: {key}: "{value}" is none of {", ".join(among)}'
                f"{did_you_mean(value, among)}"
            )
        return value


def load_table(path: Path, error: type[ValueError]) -> TomlEntry:
    """Parse one TOML file.

    Raises:
        ValueError: of the given type; the file cannot be read or is not TOML.
    """
    try:
        return TomlEntry(tomllib.loads(path.read_text(encoding="utf-8")), str(path), error)
    except OSError as wrong:
        raise error(f"{path}: cannot be read: {wrong.strerror}") from wrong
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise error(f"{path}: is not TOML: {wrong}") from wrong

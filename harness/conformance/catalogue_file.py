"""Reading catalogue files strictly: every key is known, typed and named in errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from harness.conformance.suggestion import did_you_mean


class CatalogueError(ValueError):
    """A catalogue file is wrong; the message says which file, which entry and what."""


class Entry:
    """One TOML table whose keys are taken one by one; `finish` refuses what nobody took."""

    def __init__(self, values: dict[str, Any], where: str) -> None:
        self.where = where
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
            raise CatalogueError(
                f"{self.where}: {key}: is missing{did_you_mean(key, self._values)}"
            )
        return self._checked_text(key, value, pattern, among)

    def optional_text(self, key: str, *, pattern: str | None = None) -> str | None:
        """Take a string if it is there."""
        value = self._take(key)
        return None if value is None else self._checked_text(key, value, pattern, None)

    def texts(self, key: str, *, among: Collection[str] | None = None) -> tuple[str, ...]:
        """Take a non-empty list of distinct strings."""
        values = self._list(key, among=among)
        if not values:
            raise CatalogueError(f"{self.where}: {key}: is missing or empty")
        return values

    def optional_texts(self, key: str, *, pattern: str | None = None) -> tuple[str, ...]:
        """Take a list of distinct strings, empty when the key is absent."""
        return self._list(key, pattern=pattern)

    def optional_version(self, key: str) -> int | None:
        """Take an API version (0 and up) if it is there."""
        value = self._take(key)
        if value is not None and (type(value) is not int or value < 0):
            raise CatalogueError(f"{self.where}: {key}: {value!r} is not an API version")
        return value

    def entries(self, key: str) -> list[Entry]:
        """Take a non-empty array of tables."""
        values = self._take(key)
        if not isinstance(values, list) or not values:
            raise CatalogueError(f"{self.where}: {key}: needs at least one [[{key}]]")
        for place, value in enumerate(values, start=1):
            if not isinstance(value, dict):
                raise CatalogueError(f"{self.where}: {key} number {place}: is not a table")
        return [
            Entry(value, f"{self.where}: {key} number {place}")
            for place, value in enumerate(values, start=1)
        ]

    def finish(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self._values:
            raise CatalogueError(
                f"{self.where}: {key}: unknown key{did_you_mean(key, self._asked)}"
            )

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
            raise CatalogueError(f"{self.where}: {key}: is not a list of strings")
        values = tuple(self._checked_text(key, item, pattern, among) for item in value)
        for item in values:
            if values.count(item) > 1:
                raise CatalogueError(f'{self.where}: {key}: "{item}" occurs twice')
        return values

    def _checked_text(
        self, key: str, value: Any, pattern: str | None, among: Collection[str] | None
    ) -> str:
        if not isinstance(value, str) or not value.strip():
            raise CatalogueError(f"{self.where}: {key}: {value!r} is not a non-empty string")
        if pattern is not None and re.fullmatch(pattern, value) is None:
            raise CatalogueError(f'{self.where}: {key}: "{value}" does not have the right form')
        if among is not None and value not in among:
            raise CatalogueError(
                f'{self.where}: {key}: "{value}" is none of {", ".join(among)}'
                f"{did_you_mean(value, among)}"
            )
        return value


def load_table(path: Path) -> Entry:
    """Parse one TOML file.

    Raises:
        CatalogueError: the file cannot be read or is not TOML.
    """
    try:
        return Entry(tomllib.loads(path.read_text(encoding="utf-8")), str(path))
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogueError(f"{path}: is not TOML: {error}") from error

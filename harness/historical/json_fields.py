"""Reading a JSON object field by field, so that nothing in it is overlooked."""

from __future__ import annotations

import json
from typing import Any, TypeVar

T = TypeVar("T")


class RegistryError(ValueError):
    """A text that is not such a document; the message names the document and what is wrong."""


class Fields:
    """A JSON object; the caller takes its fields one by one."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        try:
            found = json.loads(text)
        except ValueError as error:
            raise RegistryError(f"{name}: {text!r} is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise RegistryError(f"{name}: {text!r} is no object")
        self._left = found

    def has(self, *names: str) -> bool:
        return all(name in self._left for name in names)

    def take(self, field: str) -> Any:
        if field not in self._left:
            raise RegistryError(f"{self.name}: {field} is missing")
        return self._left.pop(field)

    def number(self, field: str) -> int:
        return self._of_type(field, self.take(field), int)

    def text(self, field: str) -> str:
        return self._of_type(field, self.take(field), str)

    def optional_text(self, field: str) -> str | None:
        return self.text(field) if self.has(field) else None

    def texts(self, field: str) -> tuple[str, ...]:
        found = self._of_type(field, self.take(field), list)
        return tuple(self._of_type(field, one, str) for one in found)

    def mapping(self, field: str) -> dict[str, Any]:
        return self._of_type(field, self.take(field), dict)

    def numbers_of(self, field: str, found: Any) -> tuple[int, ...]:
        return tuple(self._of_type(field, one, int) for one in self._of_type(field, found, list))

    def numbers_in(self, field: str) -> dict[str, int]:
        found = self.mapping(field)
        return {name: self._of_type(field, number, int) for name, number in found.items()}

    def texts_in(self, field: str) -> dict[str, str]:
        found = self.mapping(field)
        return {name: self._of_type(field, text, str) for name, text in found.items()}

    def rest_as_numbers(self) -> dict[str, int]:
        found, self._left = self._left, {}
        return {name: self._of_type(name, number, int) for name, number in found.items()}

    def expect_version(self, version: int) -> None:
        found = self.number("version")
        if found != version:
            raise RegistryError(f"{self.name}: version {found}, there is {version} alone")

    def end(self) -> None:
        if self._left:
            raise RegistryError(f"{self.name}: {', '.join(self._left)} is not known")

    def _of_type(self, field: str, value: Any, kind: type[T]) -> T:
        if type(value) is not kind:
            raise RegistryError(f"{self.name}: {field} is {value!r}")
        return value

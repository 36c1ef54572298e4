"""The table of harmless requests: for each API one that leaves the cluster as it is.

It is data of the catalogue, in ``sweep/*.toml``. A request is a tree of field names and values as
in the JSON form of the codec. Texts that begin with ``$`` are placeholders:

- ``$name``: a name that this run made up (a group, topic, user, ...), so nothing has it;
- ``$uuid``: a random id, so nothing has it;
- ``$null``: null, which TOML does not have.

This module knows no messages: the caller that builds a request checks its fields and versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.conformance.toml_entry import TomlEntry, load_table

REQUESTS_FOLDER = Path(__file__).parent / "sweep"
NAME, UUID, NULL = "$name", "$uuid", "$null"
PLACEHOLDERS = (NAME, UUID, NULL)
VERSIONS = r"\d+(-\d+|\+)?"
_API_NAME = r"[A-Z][A-Za-z]+"


class HarmlessRequestsError(ValueError):
    """A file of the table is wrong; the message says which file, which entry and what."""


class Safety(StrEnum):
    """The possible harm of an API.

    READ: it only reads. OWN_NAMES: it changes the object that it names, and our requests name
    objects that nothing else uses. DESTRUCTIVE: it acts on a node or on the cluster, which have no
    names of our own; it is sent only to a broker that was started to be thrown away.
    """

    READ = "read"
    OWN_NAMES = "own-names"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True)
class RequestForm:
    """``fields`` at ``versions`` ("3", "0-2", "4+"), placeholders still in place."""

    versions: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HarmlessApi:
    """One API: how safe it is, why its request is harmless, and the request."""

    name: str
    safety: Safety
    why: str
    requests: tuple[RequestForm, ...]


@lru_cache(maxsize=4)
def load_harmless_requests(folder: Path = REQUESTS_FOLDER) -> Mapping[str, HarmlessApi]:
    """Read and check all ``*.toml`` of the folder: API name to entry, in order of the files.

    Raises:
        HarmlessRequestsError: anything missing, unknown, of a wrong type or twice.
    """
    found: dict[str, HarmlessApi] = {}
    for path in sorted(folder.glob("*.toml")):
        table = load_table(path, HarmlessRequestsError)
        entries = table.entries("api")
        table.finish()
        for entry in entries:
            api = _api(entry)
            if api.name in found:
                raise HarmlessRequestsError(f"{entry.where}: {api.name} has an entry already")
            found[api.name] = api
    if not found:
        raise HarmlessRequestsError(f"{folder}: holds no table of harmless requests (*.toml)")
    return MappingProxyType(found)


def _api(entry: TomlEntry) -> HarmlessApi:
    name = entry.text("name", pattern=_API_NAME)
    entry.named(name)
    api = HarmlessApi(
        name=name,
        safety=Safety(entry.text("safety", among=[*Safety])),
        why=entry.text("why"),
        requests=tuple(request_form(one) for one in entry.entries("request")),
    )
    entry.finish()
    return api


def request_form(entry: TomlEntry) -> RequestForm:
    """A table with ``versions`` and ``fields``. Raises the entry's error."""
    form = RequestForm(entry.text("versions", pattern=VERSIONS), entry.mapping("fields"))
    entry.finish()
    _check_values(form.fields, f"{entry.where}: fields", entry.error)
    return form


def _check_values(value: Any, where: str, error: type[ValueError]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_values(inner, f"{where}.{key}", error)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            _check_values(inner, f"{where}[{place}]", error)
    elif isinstance(value, str):
        if value.startswith("$") and value not in PLACEHOLDERS:
            raise error(f"{where}: {value!r} is none of {', '.join(PLACEHOLDERS)}")
    elif not isinstance(value, bool | int | float):
        raise error(f"{where}: {value!r} is no value of a message")

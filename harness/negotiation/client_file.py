"""The versions that a client can speak and that its features need: one TOML file per client.

::

    client = "librdkafka"
    release = "2.16.0"
    source = "where these numbers come from"
    read_on = 2027-01-31             # optional: when they were read there
    without_api_versions = "what it does at a broker that does not answer ApiVersions"

    [versions]                       # every API that it can send, with the versions
    Produce = "0-10"

    [[feature]]                      # a name may occur again: any of them is enough
    name = "zstd"
    meaning = "compression with zstandard"
    since = "KIP-110"                # optional
    needs = {Produce = "7+", Fetch = "10+"}
    finalized = {"group.version" = 1}    # optional: levels of features that the cluster must have
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from harness.base.suggestion import did_you_mean
from harness.codec.apis import APIS, api_named
from harness.codec.versions import VersionRange
from harness.conformance.toml_entry import TomlEntry, load_table

CLIENTS_FOLDER = Path(__file__).parent / "clients"


class ClientFileError(ValueError):
    """A client file is missing or wrong; the message names file, entry, problem and remedy."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One way to have a feature.

    ``needs``: API name -> versions, one of which must be common; ``finalized``: name of a feature
    of the cluster (KIP-584) -> the least level.
    """

    name: str
    meaning: str
    since: str | None
    needs: Mapping[str, VersionRange]
    finalized: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A client: ``versions`` by API name, ``features`` in the order of the file.

    ``read_on``: the day on which the versions were read in the source, None where not noted.
    """

    client: str
    release: str
    source: str
    read_on: date | None
    without_api_versions: str
    versions: Mapping[str, VersionRange]
    features: tuple[Feature, ...]

    @property
    def name(self) -> str:
        """As on the command line: ``librdkafka-2.16.0``."""
        return f"{self.client}-{self.release}"


def known_clients() -> list[str]:
    """The names of the clients that we have a file for."""
    return sorted(path.stem for path in CLIENTS_FOLDER.glob("*.toml"))


def find_client(text: str) -> ClientFile:
    """The client of a name, or of a file.

    A name is ``librdkafka-2.16.0``, or shorter, for the newest one: ``librdkafka-2.16``,
    ``librdkafka``.

    Raises ClientFileError: there is no such name or file, or the file is wrong.
    """
    path = Path(text)
    if path.suffix == ".toml":
        return read_client_file(path)
    known = known_clients()
    found = [
        name
        for name in known
        if text in (name, name.rpartition("-")[0]) or name.startswith(f"{text}.")
    ]
    if not found:
        raise ClientFileError(
            f"no client {text!r}{did_you_mean(text, known)}; known: {', '.join(known)}; or give a "
            "file NAME.toml"
        )
    return read_client_file(CLIENTS_FOLDER / f"{max(found, key=_as_numbers)}.toml")


def _as_numbers(name: str) -> list[int]:
    return [int(part) for part in name.rpartition("-")[2].split(".")]


def read_client_file(path: Path) -> ClientFile:
    """Read and check a client file. Raises ClientFileError with file, entry and reason."""
    entry = load_table(path, ClientFileError)
    file = ClientFile(
        client=entry.text("client"),
        release=entry.text("release"),
        source=entry.text("source"),
        read_on=entry.optional_date("read_on"),
        without_api_versions=entry.text("without_api_versions"),
        versions=_versions(entry, "versions"),
        features=tuple(_features(entry.optional_entries("feature"))),
    )
    entry.finish()
    for feature in file.features:
        for api in feature.needs:
            if not feature.needs[api] & file.versions.get(api, VersionRange(1, 0)):
                raise ClientFileError(
                    f"{path}: feature {feature.name}: needs {api} {feature.needs[api]}, which the "
                    "client itself does not speak"
                )
    return file


def _features(entries: Iterable[TomlEntry]) -> Iterable[Feature]:
    for entry in entries:
        name = entry.text("name")
        entry.named(name)
        meaning, since = entry.text("meaning"), entry.optional_text("since")
        needs, finalized = _versions(entry, "needs"), _levels(entry)
        yield Feature(name, meaning, since, needs, finalized)
        entry.finish()


def _levels(entry: TomlEntry) -> dict[str, int]:
    given = entry.optional_mapping("finalized")
    for name, level in given.items():
        if type(level) is not int or level < 1:
            raise ClientFileError(
                f"{entry.where}: finalized: {name}: {level!r} is no level; a level is a number "
                "from 1"
            )
    return dict(given)


def _versions(entry: TomlEntry, key: str) -> dict[str, VersionRange]:
    given = entry.mapping(key)
    if not given:
        raise ClientFileError(f"{entry.where}: {key}: names no API")
    return {api: _range(entry, key, api, text) for api, text in given.items()}


def _range(entry: TomlEntry, key: str, api: str, text: Any) -> VersionRange:
    names = [one.name for one in APIS.values()]
    if api not in names:
        raise ClientFileError(f"{entry.where}: {key}: no API {api!r}{did_you_mean(api, names)}")
    try:
        parsed = VersionRange.parse(text)
    except (ValueError, TypeError) as problem:
        raise ClientFileError(f"{entry.where}: {key}: {api}: {problem}") from problem
    released = api_named(api).valid_versions
    if parsed.lowest > released.highest:
        raise ClientFileError(
            f"{entry.where}: {key}: {api} {parsed}: no release had it; known: {released}"
        )
    return parsed

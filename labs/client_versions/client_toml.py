"""A client file in ``harness/negotiation/clients``, with the table that was read put into it.

Features, comments and ``without_api_versions`` are written by hand and stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Table

from harness.codec.versions import VersionRange
from harness.negotiation.client_file import CLIENTS_FOLDER

NOT_WRITTEN = "not written yet: put here what the client's source does then"


def file_of(client: str, release: str, folder: Path = CLIENTS_FOLDER) -> Path:
    """The place of a release's file, whether or not it is there."""
    return folder / f"{client}-{release}.toml"


def versions_table(versions: Mapping[str, VersionRange]) -> Table:
    """The ``[versions]`` of a client file, in the order given."""
    table = tomlkit.table()
    for api, spoken in versions.items():
        table.add(api, str(spoken))
    return table


def rewritten(
    text: str, head: Mapping[str, str], read_on: date, versions: Mapping[str, VersionRange]
) -> str:
    """The text of a client file with these values; an empty ``text`` gives a new file.

    ``head``: client, release and source. ``read_on``: the day on which ``versions`` were read.
    """
    old = tomlkit.parse(text)
    values: dict[str, Any] = {**head, "read_on": read_on, "without_api_versions": NOT_WRITTEN}
    if "without_api_versions" in old:
        values["without_api_versions"] = old["without_api_versions"]
    new = tomlkit.document()
    for line in _first_comments(text):
        new.add(tomlkit.comment(line))
    for key, value in values.items():
        new.add(key, value)
    new.add(tomlkit.nl())
    new.add("versions", versions_table(versions))
    return tomlkit.dumps(new) + _features(text)


def _first_comments(text: str) -> list[str]:
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return [line.removeprefix("#").removeprefix(" ") for line in lines[:first]]


def _features(text: str) -> str:
    """The text from the first feature on, with all its comments."""
    place = text.find("\n[[feature]]")
    return "" if place < 0 else text[place:]

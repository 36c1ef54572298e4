"""The table of a client, put together from the pieces that a reader finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from harness.codec.apis import APIS
from harness.codec.versions import NO_VERSIONS, VersionRange

Piece = tuple[int | str, int, int]
"""API (key, or name as the client writes it), lowest version, highest version."""
ALIASES = {
    "apiversion": "ApiVersions",
    "groupcoordinator": "FindCoordinator",
    "consumermetadata": "FindCoordinator",
    "offset": "ListOffsets",
    "listoffset": "ListOffsets",
    "offsetsforleaderepoch": "OffsetForLeaderEpoch",
    "alterpartitionassignments": "AlterPartitionReassignments",
    "deleteoffsets": "OffsetDelete",
    "saslauth": "SaslAuthenticate",
}
"""Names of clients, in small letters, that are not the protocol's."""


class ReadError(ValueError):
    """A source text is not as its reader expects: names the place and what was expected."""


@cache
def _by_small_letters() -> dict[str, str]:
    return {one.name.lower(): one.name for one in APIS.values()} | ALIASES


def api_name(api: int | str) -> str:
    """The name in the protocol. Raises ReadError for an API that no release had."""
    if isinstance(api, int):
        if api not in APIS:
            raise ReadError(f"no API has the key {api}")
        return APIS[api].name
    word = "".join(letter for letter in api.lower() if letter.isalnum())
    if word not in _by_small_letters():
        raise ReadError(f"no API is named {api!r}; add its other name to version_table.ALIASES")
    return _by_small_letters()[word]


def version_table(
    pieces: Iterable[Piece], by_hand: Mapping[str, VersionRange]
) -> dict[str, VersionRange]:
    """One range for each API, in the order of keys.

    ``by_hand`` has ranges that replace those that were read; an empty one removes the API. Raises
    ReadError for versions with a gap.
    """
    versions: dict[str, set[int]] = {}
    for api, lowest, highest in pieces:
        versions.setdefault(api_name(api), set()).update(range(lowest, highest + 1))
    table = {}
    for name in (one.name for one in APIS.values()):
        spoken = by_hand[name] if name in by_hand else _one_range(name, versions.get(name, set()))
        if spoken:
            table[name] = spoken
    return table


def _one_range(name: str, versions: set[int]) -> VersionRange:
    if not versions:
        return NO_VERSIONS
    lowest, highest = min(versions), max(versions)
    if len(versions) != highest - lowest + 1:
        raise ReadError(
            f"{name}: the versions {sorted(versions)} have a gap; a client file has one range: "
            "set it by hand in labs/client_versions/clients.py"
        )
    return VersionRange(lowest, highest)

"""Versions that a broker advertises for old clients' sake and does not serve.

They are data: a row has the versions, their API, and the sign by which a broker is known for it. A
judgement of a broker leaves such versions out; its own ApiVersions stays what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.codec.apis import APIS, api_named
from harness.codec.versions import NO_VERSIONS, VersionRange


@dataclass(frozen=True, slots=True)
class PlaceholderVersions:
    """``versions`` of ``api``, its lowest, are not served by some brokers that advertise them.

    The sign of such a broker: its lowest version of ``sign`` is ``sign_begins_at`` or later.
    """

    api: str
    versions: VersionRange
    sign: str
    sign_begins_at: int
    source: str


PLACEHOLDERS = (
    # Some releases of librdkafka give up on a broker without Produce 0, which they never send.
    # Message sets went with Fetch 0 to 3, so a broker without those takes none either.
    PlaceholderVersions("Produce", VersionRange(0, 2), "Fetch", 4, "KAFKA-18659"),
)


def placeholder_of(
    api_versions: Mapping[int, VersionRange], api_name: str
) -> PlaceholderVersions | None:
    """Return the row for one API of a broker, by all that it advertises; None for no row."""
    for row in PLACEHOLDERS:
        sign = api_versions.get(api_named(row.sign).key)
        if row.api == api_name and sign and sign.lowest >= row.sign_begins_at:
            return row
    return None


def served_range(api_versions: Mapping[int, VersionRange], api_name: str) -> VersionRange:
    """Return the advertised versions of an API without placeholders; empty if there are none."""
    shown = api_versions.get(api_named(api_name).key, NO_VERSIONS)
    row = placeholder_of(api_versions, api_name)
    if row is None:
        return shown
    return shown & VersionRange(row.versions.highest + 1, shown.highest) or NO_VERSIONS


def served_ranges(api_versions: Mapping[int, VersionRange]) -> dict[int, VersionRange]:
    """Return the advertised versions of all APIs by key, without placeholders."""
    known = {key: served_range(api_versions, APIS[key].name) for key in api_versions if key in APIS}
    return {**api_versions, **known}

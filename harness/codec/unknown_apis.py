"""API keys that no release of Apache Kafka has, named by the range that they stand in.

Kafka numbers its APIs from 0 on. Vendors number the ones that they add from 10000 on, so that no
later API of Kafka gets the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.codec.apis import APIS

FIRST_OF_VENDORS = 10_000


def name_of_unknown(key: int) -> str:
    """Return a name for an API key that is not in ``APIS``: ``API 10003 (of a vendor)``."""
    if key >= FIRST_OF_VENDORS:
        return f"API {key} (of a vendor)"
    if key < 0:
        return f"API {key} (no API has a negative key)"
    return f"API {key} (in no known release of Kafka)"


def names_of_unknown(keys: Iterable[int]) -> dict[int, str]:
    """Return the names of those of the keys that no release of Kafka has, in their order."""
    return {key: name_of_unknown(key) for key in sorted(set(keys) - APIS.keys())}


def told_unknown(advertised: Mapping[int, tuple[int, int]]) -> list[str]:
    """Return a text for each unknown API of a broker: its name and its versions.

    ``advertised``: API key -> lowest and highest version.
    """
    ranges = {
        key: f"v{low}" if low == high else f"v{low}-{high}"
        for key, (low, high) in advertised.items()
    }
    return [f"{name} {ranges[key]}" for key, name in names_of_unknown(advertised).items()]

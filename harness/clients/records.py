"""The records that the tests send, and their form when they are read."""

from __future__ import annotations

from collections.abc import Sequence

from harness.clients.vocabulary import Json

BEGAN_MS = 1_700_000_000_000
STEP_MS = 1000
FOR_EVER = {"retention.ms": "-1"}
"""The configs of a topic with records of old timestamps."""


def sent(
    partition: int,
    number: int,
    *,
    key: str | None = None,
    value: str | None = "value",
    headers: Sequence[tuple[str, str | None]] = (),
) -> Json:
    """Return record ``number`` of a partition; its timestamp identifies it."""
    return {
        "partition": partition,
        "timestamp_ms": BEGAN_MS + number * STEP_MS,
        "key": key,
        "value": value,
        "headers": [list(pair) for pair in headers],
    }


def numbered(partitions: int, each: int, first: int = 0) -> list[Json]:
    """Return ``each`` records for every partition, in turn; every value occurs once."""
    return [
        sent(partition, number, key=f"k{number}", value=f"{partition}-{number}")
        for number in range(first, first + each)
        for partition in range(partitions)
    ]


def in_partition(records: Sequence[Json], partition: int, offset: int = 0) -> list[Json]:
    """Return the records of a partition as a client must read them from ``offset`` on."""
    chosen = [one for one in records if one["partition"] == partition]
    return [{**one, "offset": at} for at, one in enumerate(chosen)][offset:]

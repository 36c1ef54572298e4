"""Equal logs in the partitions of a topic, each damaged in its own way while the broker is down.

One start of the broker recovers from many kinds of damage. The damage is in the newest segment; an
entry is a batch, or a message of an old format.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import Inconclusive
from harness.runner.brokers.persistent_broker import PersistentBroker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.log_entries import OVERHEAD_BYTES, whole_entries
from suites.protocol.support.partition_log import stored_batches
from suites.protocol.support.record_formats import records_in

BATCHES = [(b"a" * 40, b"b" * 40), (b"c", b"d"), (b"e" * 300,), (b"f" * 70, b"g")]
LENGTH_AT = 8
CHECKED_FROM = 21  # all bytes of an entry from here on are under its checksum, in every format
_SERVED = (ErrorCode.NONE, ErrorCode.OFFSET_OUT_OF_RANGE)
Stored = list[tuple[int, bytes | None]]
"""Offsets and values."""


class EntrySpan(NamedTuple):
    """The position and size of an entry in its segment, in bytes."""

    at: int
    size: int


class LogDamage(NamedTuple):
    """A segment as it is left: its first ``intact`` entries are whole, nothing behind them is."""

    what: str
    intact: int
    data: bytes


Breaking = Callable[[bytes], LogDamage]
"""A function that makes a damaged segment from the bytes of a whole one."""


def segments_in(folder: Path) -> list[Path]:
    """The segments of a partition, oldest first."""
    return sorted(folder.glob("*.log"))


def entries_of(data: bytes) -> list[EntrySpan]:
    """All whole entries of a segment."""
    whole, _ = whole_entries(data)
    found, at = [], 0
    for entry in whole:
        found.append(EntrySpan(at, len(entry)))
        at += len(entry)
    return found


def with_length(data: bytes, entry: EntrySpan, length: int) -> bytes:
    """The segment with another length field in this entry."""
    at = entry.at + LENGTH_AT
    return data[:at] + struct.pack(">i", length) + data[at + 4 :]


def length_in(data: bytes, entry: EntrySpan) -> int:
    """Return the value of the entry's length field: the number of bytes after the field."""
    found: int = struct.unpack_from(">i", data, entry.at + LENGTH_AT)[0]
    assert found + OVERHEAD_BYTES == entry.size
    return found


def flipped(data: bytes, position: int) -> bytes:
    """The segment with one bit of this byte turned over."""
    return data[:position] + bytes([data[position] ^ 0x10]) + data[position + 1 :]


def stored(broker: BrokerUnderTest, topic: Topic, partition: int) -> Stored:
    """All records that the broker gives of this partition."""
    return [
        (batch.base_offset + (record.offset_delta or 0), record.value)
        for batch in stored_batches(broker, topic, partition)
        for record in batch.records
    ]


def await_back(broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> None:
    """Wait until a broker that was started again serves this partition, to consumers too.

    With a ZooKeeper it leads again before it knows what topics there are, as a fetch has to.
    """
    broker.await_served(topic, partition)
    broker.eventually(
        lambda: broker.fetch(topic, 0, partition=partition).error_code in _SERVED,
        f"{topic.name}-{partition} is served to consumers",
    )


class EqualLogs:
    """A topic on a broker that is kept; ``before`` is what each partition held when it was."""

    def __init__(self, kept: PersistentBroker, partitions: int) -> None:
        """Make and fill it."""
        self.kept = kept
        self.topic = kept.client.create_topic(partitions)
        for partition in range(partitions):
            append(kept.client, self.topic, *(batch_of(*b) for b in BATCHES), partition=partition)
        self.before = [stored(kept.client, self.topic, index) for index in range(partitions)]
        self.damages: list[LogDamage] = []
        self.expected: list[Stored] = []
        self.whole: list[bytes] = []

    def folder(self, partition: int) -> Path:
        """Return the folder of this partition."""
        return self.kept.partition_folder(self.topic.name, partition)

    def damage_while_down(self, breaking: Sequence[Breaking]) -> None:
        """Kill the broker, damage each partition in turn.

        Raises Inconclusive for a segment on disk that is not what the broker served.
        """
        self.kept.kill()
        for partition, do in enumerate(breaking):
            segment = segments_in(self.folder(partition))[-1]
            data = segment.read_bytes()
            entries = entries_of(data)
            if [(r.offset, r.value) for r in records_in(data)] != self.before[partition]:
                raise Inconclusive(f"{segment} does not hold what was fetched from the partition")
            damage = do(data)
            whole = data[: sum(entry.size for entry in entries[: damage.intact])]
            self.damages.append(damage)
            self.expected.append([(r.offset, r.value) for r in records_in(whole)])
            self.whole.append(whole)
            segment.write_bytes(damage.data)

    def start_again(self) -> None:
        """Start the broker, until it serves all that was damaged."""
        self.kept.start()
        for partition in range(len(self.damages)):
            await_back(self.kept.client, self.topic, partition)

    def expect_recovered(self) -> None:
        """Each partition holds, and ends with, what was whole before its damage; so does its
        segment: what is behind that would stand before all that comes."""
        client = self.kept.client
        for partition, (damage, expected) in enumerate(
            zip(self.damages, self.expected, strict=True)
        ):
            end = client.end_offset(self.topic, partition)
            told = f"{damage.what}: the log ends at {end}, whole is what is before {len(expected)}"
            assert end == len(expected), told
            found = stored(client, self.topic, partition)
            assert found == expected, f"{damage.what}: the log holds {found}, not {expected}"
            left, whole = (
                segments_in(self.folder(partition))[-1].read_bytes(),
                self.whole[partition],
            )
            told = f"{damage.what}: the segment has {len(left)} bytes, {len(whole)} are whole"
            assert left == whole, told

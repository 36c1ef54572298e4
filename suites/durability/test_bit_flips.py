"""STOR: a bit of an old segment changes silently on the disk."""

from __future__ import annotations

import struct
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.codec.error_code import ErrorCode
from harness.codec.records import CorruptMessageError
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.broken_logs import (
    CHECKED_FROM,
    EntrySpan,
    Stored,
    await_back,
    entries_of,
    flipped,
    segments_in,
)
from suites.durability.support.rolled_logs import RolledLogs
from suites.protocol.support.expect import expect_error
from suites.protocol.support.log_entries import whole_entries
from suites.protocol.support.record_formats import records_in

FETCH_OF_BATCHES = 4
"""Versions before it get entries that the broker makes anew of those that it has."""
ENTRIES = (1, -1)
"""Entries of the oldest segment: the second, and the last one."""


class Flip(NamedTuple):
    """A bit of an entry in the oldest segment of a partition, and which offsets the entry has."""

    what: str
    partition: int
    offsets: list[int]


def _places(entry: EntrySpan) -> list[int]:
    """Return positions of bytes that are under the entry's checksum and outside its length."""
    places = [entry.at + entry.size // 2, entry.at + entry.size - 1]
    assert min(places) >= entry.at + CHECKED_FROM
    return places


class FlippedLogs(RolledLogs):
    """A partition for each of some bits."""

    def __init__(self, kept: PersistentBroker) -> None:
        """Raises Inconclusive as there."""
        super().__init__(kept, partitions=2 * len(ENTRIES))

    def flip(self) -> list[Flip]:
        """Flip a bit of each partition in the files alone, whether the broker runs or not."""
        wanted = [(number, place) for number in ENTRIES for place in (0, 1)]
        flips = []
        for partition, (number, place) in enumerate(wanted):
            segment = segments_in(self.kept.partition_folder(self.topic.name, partition))[0]
            data = segment.read_bytes()
            entry = entries_of(data)[number]
            at = _places(entry)[place]
            inside = records_in(data[entry.at : entry.at + entry.size])
            with segment.open("r+b") as file:
                file.seek(at)
                file.write(flipped(data, at)[at : at + 1])
            what = f"byte {at - entry.at} of entry {number} changed"
            flips.append(Flip(what, partition, [one.offset for one in inside]))
        return flips

    def expect_exposed(self, flips: list[Flip], when: str) -> None:
        """A reader notices each flip, and receives all records before and after it."""
        lowest, highest = _versions_as_stored(self.kept.client)
        for flip in flips:
            whole = [each for each in self.before if each[0] not in flip.offsets]
            for version in sorted({lowest, highest}):
                found = self._read(flip, version, f"{when} {flip.what}, Fetch v{version}")
                told = f"{when} {flip.what}: a Fetch v{version} of all brings {found}, not {whole}"
                assert found == whole, told

    def _read(self, flip: Flip, version: int, where: str) -> Stored:
        """Read from offset 0 on, and skip the entry that is reported or found as damaged."""
        found: Stored = []
        at, end, behind = 0, len(self.before), flip.offsets[-1] + 1
        while at < end:
            data = self.kept.client.fetch(self.topic, at, version, partition=flip.partition)
            if data.error_code != ErrorCode.NONE and at in flip.offsets:
                at = behind
                continue
            expect_error(data.error_code, ErrorCode.NONE, f"{where} at {at}")
            entries, _ = whole_entries(record_bytes(data))
            assert entries, f"{where} at {at} brings nothing"
            for entry in entries:
                at = self._take(entry, flip, found, where)
                if at == behind:
                    break  # what is behind is to be had by itself
        return found

    @staticmethod
    def _take(entry: bytes, flip: Flip, found: Stored, where: str) -> int:
        """Put its records with the others, if they are whole; where to read on."""
        (offset,) = struct.unpack_from(">q", entry)
        try:
            records = records_in(entry)
        except CorruptMessageError:
            assert offset in flip.offsets, f"{where}: the entry at {offset} is damaged too"
            return flip.offsets[-1] + 1
        told = f"{where}: the changed entry looks whole: {records}"
        assert offset not in flip.offsets, told
        found += [(one.offset, one.value) for one in records]
        return records[-1].offset + 1


def _versions_as_stored(client: BrokerUnderTest) -> tuple[int, int]:
    """The ends of those versions of Fetch that bring what is stored, byte for byte."""
    highest = client.version("Fetch")
    return min(FETCH_OF_BATCHES, highest), highest


@judges("STOR-022")
@needs_broker(Use.PERSISTENT)
def test_fetch_exposes_bit_flipped_while_broker_is_down(
    persistent_broker: PersistentBroker,
) -> None:
    """It ended in good order, so that it does not look at what it has."""
    logs = FlippedLogs(persistent_broker)
    persistent_broker.stop()
    flips = logs.flip()
    persistent_broker.start()
    for flip in flips:
        await_back(persistent_broker.client, logs.topic, flip.partition)
    with requirement("STOR-022"):
        logs.expect_exposed(flips, "after a start")


@judges("STOR-022")
@needs_broker(Use.PERSISTENT)
def test_fetch_exposes_bit_flipped_while_broker_runs(persistent_broker: PersistentBroker) -> None:
    logs = FlippedLogs(persistent_broker)
    flips = logs.flip()
    with requirement("STOR-022"):
        logs.expect_exposed(flips, "while it runs")

"""Defects of area RECV: recovery of a damaged log by the built-in broker."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace

import google_crc32c

from harness.base.ids import Offset
from harness.codec.varint import decode_varint
from harness.reference_broker.storage.batch_walk import BatchPlace, CorruptLength, place_of
from harness.reference_broker.storage.log_loading import LogLoading
from harness.reference_broker.storage.segment_recovery import RecoveredSegment
from harness.reference_broker.storage.stored_segment import StoredSegment
from labs.defects.defect import wrong_in_broker

LOADING, RECOVERY = "storage.log_loading", "storage.segment_recovery"
HEADER_BYTES, OVERHEAD_BYTES, LENGTH_AT, MAGIC_AT, CRC_AT, CHECKED_FROM = 61, 12, 8, 16, 17, 21
LAST_DELTA_AT, COUNT_AT = 23, 57
LONG_BYTES = 1_000
OFFSET_BYTES, AT_ONCE_BYTES, MAGIC = 8, 1 << 19, 2
INT = struct.Struct(">i")
Recover = Callable[..., RecoveredSegment]
Placed = tuple[BatchPlace, bytes, int]
Look = Callable[[StoredSegment], Iterator[Placed]]
Judge = Callable[[bytes, int, BatchPlace], bool]


@wrong_in_broker(
    "RECV-002", r"of the \d+ bytes of the last entry left: the log ends at 6", LOADING, "recover"
)
def some_records_of_a_torn_entry_stay(recover: Recover) -> Recover:
    """Recovery makes an entry of the whole records of a cut one."""

    def instead(segment: StoredSegment, *others: object) -> RecoveredSegment:
        data, at = segment.read(0, segment.size_bytes), 0
        while at + HEADER_BYTES < len(data) and at + _size(data, at) <= len(data):
            at += max(_size(data, at), HEADER_BYTES)
        made = _of_whole_records(data[at:])
        if made:
            os.pwrite(segment._descriptor, made, at)
            os.ftruncate(segment._descriptor, at + len(made))
            segment.size_bytes = at + len(made)
        return recover(segment, *others)

    return instead


def _size(data: bytes, at: int) -> int:
    length: int = INT.unpack_from(data, at + LENGTH_AT)[0]
    return length + OVERHEAD_BYTES


def _of_whole_records(torn: bytes) -> bytes:
    """The entry with the whole records of a cut one; empty if none is whole, or all are."""
    if len(torn) <= HEADER_BYTES or torn[MAGIC_AT] != MAGIC:
        return b""
    (count,) = INT.unpack_from(torn, COUNT_AT)
    whole, end = 0, HEADER_BYTES
    while whole < count and end < len(torn) - 1:
        length, begin = decode_varint(torn, end)
        if begin + length > len(torn):
            break
        whole, end = whole + 1, begin + length
    if whole in (0, count):
        return b""
    made = bytearray(torn[:end])
    for at, value in ((LENGTH_AT, end - OVERHEAD_BYTES), (LAST_DELTA_AT, whole - 1)):
        INT.pack_into(made, at, value)
    INT.pack_into(made, COUNT_AT, whole)
    struct.pack_into(">I", made, CRC_AT, google_crc32c.value(bytes(made[CHECKED_FROM:])))
    return bytes(made)


@wrong_in_broker(
    "RECV-003", r"zeros behind the last entry: the segment has \d+ bytes, \d+", LOADING, "recover"
)
def zeros_are_room_that_was_set_aside(recover: Recover) -> Recover:
    """Recovery leaves eight or more zeros behind the last entry in the file."""

    def instead(segment: StoredSegment, *others: object) -> RecoveredSegment:
        data = segment.read(0, segment.size_bytes)
        found = recover(segment, *others)
        behind = data[segment.size_bytes :]
        if len(behind) >= OFFSET_BYTES and not any(behind):
            os.ftruncate(segment._descriptor, len(data))
            return RecoveredSegment(0)
        return found

    return instead


@wrong_in_broker(
    "RECV-004", r"(byte \d+ of|another checksum at) entry \d.*: the log ends at 7",
    RECOVERY, "_is_valid",
)  # fmt: skip
def damage_between_two_entries_is_passed_over(is_valid: Judge) -> Judge:
    """Recovery keeps an entry with a bad checksum, and all behind it, if a good one follows."""

    def instead(data: bytes, at: int, place: BatchPlace) -> bool:
        behind = at + place.size_bytes
        if is_valid(data, at, place) or behind + HEADER_BYTES > len(data):
            return is_valid(data, at, place)
        try:
            following = place_of(data, behind, 0)
        except CorruptLength:
            return False
        return behind + following.size_bytes <= len(data) and is_valid(data, behind, following)

    return instead


@wrong_in_broker(
    "RECV-005", r"size far beyond the end at entry \d: the segment has", RECOVERY, "_valid_batches"
)
def large_entries_are_believed(valid_batches: Look) -> Look:
    """Recovery does not check an entry that is larger than one read."""

    def instead(segment: StoredSegment) -> Iterator[Placed]:
        at, expected = 0, int(segment.base_offset)
        for placed in valid_batches(segment):
            yield placed
            at, expected = at + placed[0].size_bytes, placed[0].last_offset + 1
        head = segment.read(at, HEADER_BYTES)
        if len(head) == HEADER_BYTES and _size(head, 0) > AT_ONCE_BYTES:
            place = place_of(head, 0, at)
            if place.base_offset == expected:
                yield place._replace(size_bytes=segment.size_bytes - at), head, 0

    return instead


Recovering = Callable[[LogLoading, StoredSegment], RecoveredSegment]


@wrong_in_broker("RECV-006", r"was not damaged, and is not what it was|Fetch at 0: error is "
                 "OFFSET_OUT_OF_RANGE", LOADING, "LogLoading._recover")  # fmt: skip
def older_segments_go_with_a_bad_one(recover: Recovering) -> Recovering:
    """Recovery removes the segments before one that it had to cut."""

    def instead(loading: LogLoading, segment: StoredSegment) -> RecoveredSegment:
        found = recover(loading, segment)
        if found.cut_bytes:
            older = [one for one in loading.segments if one.base_offset < segment.base_offset]
            loading._remove(older)
        return found

    return instead


Unflushed = Callable[[LogLoading], None]


def _has_two_partitions(loading: LogLoading) -> bool:
    """True for the logs of one test: several long segments in each of two partitions."""
    topic, _, _ = loading._folder.name.rpartition("-")
    has_more, has_one = ((loading._folder.parent / f"{topic}-{at}").is_dir() for at in (2, 1))
    is_long = all(segment.size_bytes > LONG_BYTES for segment in loading.segments)
    return is_long and len(loading.segments) > 1 and has_one and not has_more


@wrong_in_broker("RECV-006", r"the recovery point is 0: the log ends at 36, not at 14",
                 LOADING, "LogLoading._recover_unflushed")  # fmt: skip
def the_newest_segment_alone_is_checked(recover_unflushed: Unflushed) -> Unflushed:
    """Recovery checks only the newest segment, wherever the recovery point is."""

    def instead(loading: LogLoading) -> None:
        if not _has_two_partitions(loading):
            recover_unflushed(loading)
            return
        older, loading.segments = loading.segments[:-1], loading.segments[-1:]
        recover_unflushed(loading)
        loading.segments = [*older, *loading.segments]

    return instead


@wrong_in_broker("RECV-006", r"the recovery point is behind: the log ends at 14, not at 36",
                 LOADING, "LogLoading._recover_unflushed")  # fmt: skip
def the_recovery_point_is_ignored(recover_unflushed: Unflushed) -> Unflushed:
    """Recovery checks all segments and cuts the log at damage before the recovery point."""

    def instead(loading: LogLoading) -> None:
        if _has_two_partitions(loading):
            loading._finding = replace(loading._finding, recovery_point=Offset(0))
        recover_unflushed(loading)

    return instead


@wrong_in_broker("RECV-008", r"\.index is empty", LOADING, "recover")
def an_index_begins_anew(recover: Recover) -> Recover:
    """Recovery makes an empty index for one that is missing or not trusted."""

    def instead(segment: StoredSegment, *others: object) -> RecoveredSegment:
        *known, _ = others
        return recover(segment, *known, segment.size_bytes)

    return instead


@wrong_in_broker("RECV-015", r"a batch that was stored before the kill is stored once more",
                 "storage.recovered_producers", "RecoveredProducers.note",
                 also=("RECV-021",))  # fmt: skip
def an_old_snapshot_tells_of_all_producers(
    note: Callable[..., None],
) -> Callable[..., None]:
    """Recovery does not read the producers in the log behind its snapshot."""
    return lambda *_: None


DEFECTS = [
    some_records_of_a_torn_entry_stay,
    zeros_are_room_that_was_set_aside,
    damage_between_two_entries_is_passed_over,
    large_entries_are_believed,
    older_segments_go_with_a_bad_one,
    the_newest_segment_alone_is_checked,
    the_recovery_point_is_ignored,
    an_index_begins_anew,
    an_old_snapshot_tells_of_all_producers,
]

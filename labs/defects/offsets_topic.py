"""Defects of area OTOP: records that the group coordinator writes into its topic, or does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.codec import decode
from harness.codec.header import decode_request_header
from harness.codec.messages import (
    FetchResponse,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from harness.codec.records import Record, RecordBatch
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.prod import change_stored
from suites.protocol.support.internal_topics import OFFSETS_TOPIC

OFFSET_KEYS = (b"\0\0", b"\0\1")
"""First bytes of the key of an offset: its type, in two forms."""

GROUP_KEY = b"\0\2"
"""First bytes of the key of a group."""

PROTOCOLS = (b"\0\5range", b"\0\5other")
"""Names of protocols with their lengths: that of the members, and another one."""


def _drop(
    message: Message,
    is_lost: Callable[[bytes, Record], bool],
    kinds: Sequence[bytes] = OFFSET_KEYS,
) -> None:
    """Remove the records that are lost, by key and record, from an answer to Fetch.

    Only those of these kinds.
    """

    def change(batch: RecordBatch) -> RecordBatch:
        keyed = [(record.key or b"", record) for record in batch.records]
        kept = [one for key, one in keyed if key[:2] not in kinds or not is_lost(key, one)]
        return batch if len(kept) == len(batch.records) else _with(batch, kept)

    change_stored(message, change)


def _with(batch: RecordBatch, records: list[Record]) -> RecordBatch:
    return replace(batch, records=records, record_count=None)


@answers("OTOP-001", rf"{OFFSETS_TOPIC} is not internal")
def the_topic_is_like_others(answer: MetadataResponse) -> None:
    """Metadata does not mark the offsets topic as internal."""
    for topic in answer.topics:
        topic.is_internal &= topic.name != OFFSETS_TOPIC


@answers("OTOP-002", r"written last is \(3, ")
def only_the_first_commit_is_written(answer: FetchResponse) -> None:
    """The coordinator writes only the first commit, and keeps later ones in memory."""
    seen: set[bytes] = set()

    def is_lost(key: bytes, record: Record) -> bool:
        known = key in seen
        seen.add(key)
        return known and record.value is not None

    _drop(answer, is_lost)


@answers("OTOP-002", r"type, protocol and leader written are \('consumer', 'other', ")
def another_protocol_is_written(answer: FetchResponse) -> None:
    """The coordinator writes another protocol of a group than its members use."""

    def change(batch: RecordBatch) -> RecordBatch:
        changed = [
            replace(record, value=record.value.replace(*PROTOCOLS))
            if record.value and (record.key or b"")[:2] == GROUP_KEY
            else record
            for record in batch.records
        ]
        return batch if changed == batch.records else _with(batch, changed)

    change_stored(answer, change)


@answers("OTOP-003", r"written last is .*, no tombstone")
def what_is_deleted_stays_written(answer: FetchResponse) -> None:
    """The coordinator writes no tombstones for a deleted group."""
    _drop(answer, lambda _, record: record.value is None)


@answers("OTOP-003", r"the deleted group: written last is .*, no tombstone")
def a_deleted_group_stays_written(answer: FetchResponse) -> None:
    """The coordinator writes tombstones for the offsets of a deleted group, none for the group."""
    _drop(answer, lambda _, record: record.value is None, [GROUP_KEY])


AT_ONCE = 10
"""Count of partitions. With a read for each of them an answer would be late on a busy machine."""


class OffsetsAreReadFromTheLog(FrameRule):
    """The coordinator reads all commits again for every ten partitions of an OffsetFetch."""

    def __init__(self) -> None:
        self.log: list[tuple[int, bytes]] = []

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, OffsetCommitRequest):
            self.log.append((seen.version, seen.payload))
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, OffsetFetchRequest):
            for _ in range(0, _partitions_asked(seen.message), AT_ONCE):
                self._read()
        return [payload]

    def _read(self) -> None:
        for version, commit in self.log:
            _, start = decode_request_header(commit)
            decode(OffsetCommitRequest, version, commit, start)


def _partitions_asked(request: OffsetFetchRequest) -> int:
    topics = [
        *(request.topics or ()),
        *(each for one in request.groups for each in one.topics or ()),
    ]
    return sum(len(topic.partition_indexes) for topic in topics)


DEFECTS = [
    the_topic_is_like_others,
    only_the_first_commit_is_written,
    another_protocol_is_written,
    what_is_deleted_stays_written,
    a_deleted_group_stays_written,
    replace(
        rule("OTOP-005", r"after 100000 commits \d+\.\d ms", OffsetsAreReadFromTheLog),
        private=True,
    ),
]

"""Defects of area RECF, in messages of magic 0 and 1 and in the format for each version."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, ProduceRequest, ProduceResponse
from harness.codec.records import LOG_APPEND_TIME, encode_message, split_message_set
from harness.codec.records import LegacyMessage as OldMessage
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.conn import NOT_CLOSED
from labs.defects.defect import error_answer, rule
from labs.defects.edited_answer import answers
from labs.defects.stored_entries import change_entries, change_inside, put, with_checksum
from suites.protocol.support.log_entries import MAGIC_AT, whole_entries

CRC_AT, ATTRIBUTES_AT, VALUES_AT = 12, 17, 18
LAST_OLD = {"Produce": 2, "Fetch": 3}
OF_MAGIC_0, OF_MAGIC_1, OF_SETS = range(2), range(2, 4), range(4)


@answers("RECF-001", r"checksum 0x\w+, of magic and all behind it 0x", OF_MAGIC_0)
def checksum_covers_key_and_value_alone(answer: FetchResponse) -> None:
    """The checksum of a message does not cover magic and attributes."""

    def change(entry: bytes) -> bytes:
        checksum = zlib.crc32(entry[VALUES_AT:])
        return entry[:CRC_AT] + struct.pack(">I", checksum) + entry[CRC_AT + 4 :]

    change_entries(answer, change)


@answers("RECF-002", r"LogAppendTime: attributes are 0x0", OF_MAGIC_1)
def a_message_does_not_tell_whose_time_it_has(answer: FetchResponse) -> None:
    """The broker never sets bit 3 of a message."""

    def change(entry: bytes) -> bytes:
        if entry[MAGIC_AT] != 1 or b"timed" not in entry:
            return entry
        return put(entry, ">b", ATTRIBUTES_AT, entry[ATTRIBUTES_AT] & ~LOG_APPEND_TIME)

    change_entries(answer, change)


@answers("RECF-003", r"magic \d: length \d+, its fields have", OF_SETS)
def messages_are_padded(answer: FetchResponse) -> None:
    """The broker pads a message to a multiple of eight bytes, and its length counts the padding."""

    def change(entry: bytes) -> bytes:
        if b"summed" not in entry:
            return entry
        padded = bytearray(entry + bytes(-len(entry) % 8))
        struct.pack_into(">i", padded, 8, len(padded) - 12)
        return with_checksum(bytes(padded))

    change_entries(answer, change)


@answers("RECF-004", r"Fetch \d at 3: the set begins with \d+", OF_SETS)
def a_set_begins_with_its_count(answer: FetchResponse) -> None:
    """The broker puts a count before several messages."""
    for topic in answer.responses:
        for one in topic.partitions:
            entries, rest = whole_entries(bytes(one.records or b""))
            if any(b"one of 5" in entry for entry in entries):
                one.records = struct.pack(">i", len(entries)) + b"".join([*entries, rest])


def _produced(seen: SeenRequest) -> bytes:
    """The records for the request's only partition."""
    assert isinstance(seen.message, ProduceRequest)
    (topic,) = seen.message.topic_data
    return bytes(topic.partition_data[0].records or b"")


@answers("RECF-006", r"two compressed messages are taken", range(3))
def two_wrappers_are_taken(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker acknowledges two compressed messages in one set."""
    entries, _ = whole_entries(_produced(seen))
    if len(entries) == 2 and all(entry[ATTRIBUTES_AT] & 7 for entry in entries):
        for topic in answer.responses:
            for one in topic.partition_responses:
                one.error_code, one.base_offset = ErrorCode.NONE, 0


@answers("RECF-007", r"are \(7, \[5, 6, 7\]\), not \(7, \[0, 1, 2\]\)", OF_MAGIC_1)
def offsets_inside_magic_1_are_those_of_the_log(answer: FetchResponse) -> None:
    """The offsets inside a compressed message of magic 1 are absolute."""
    change_entries(answer, lambda entry: change_inside(entry, 1, lambda _, inner: inner))


@answers("RECF-008", r"offsets inside are \[0, 1, 2\], expected \[5, 6, 7\]", OF_MAGIC_0)
def offsets_inside_magic_0_count_from_0(answer: FetchResponse) -> None:
    """The offsets inside a compressed message of magic 0 are relative."""

    def relative(position: int, inner: OldMessage) -> OldMessage:
        return replace(inner, offset=position)

    change_entries(answer, lambda entry: change_inside(entry, 0, relative))


@answers("RECF-009", r"numbered \[\d, \d, \d\]: error is INVALID_RECORD", range(2, 3))
def odd_offsets_inside_are_refused(seen: SeenRequest, message: ProduceResponse) -> None:
    """The broker refuses a compressed message with gaps in its inner offsets."""
    entry = _produced(seen)
    if entry[MAGIC_AT] != 1:
        return
    inside: list[int] = []

    def look(_: int, inner: OldMessage) -> OldMessage:
        inside.append(inner.offset)
        return inner

    for one in whole_entries(entry)[0]:
        change_inside(one, 1, look)
    if inside != list(range(len(inside))):
        for topic in message.responses:
            for answer in topic.partition_responses:
                answer.error_code, answer.base_offset = ErrorCode.INVALID_RECORD, -1


# -- the format for each version -------------------------------------------------------------------


@answers("RECF-023", r"magics \[(0, )?1\], at most 0 can be read", OF_MAGIC_0)
def magic_1_comes_as_it_is(answer: FetchResponse) -> None:
    """The broker returns messages of magic 1 to clients that can read only magic 0."""

    def change(entry: bytes) -> bytes:
        if b"magic 1" not in entry:
            return entry
        (one,) = split_message_set(entry)
        return encode_message(replace(one, magic=1, crc=None, length=None))

    change_entries(answer, change)


@answers("RECF-024", r"key, value, time are \(.*, -1\), not ", OF_MAGIC_1)
def conversion_loses_the_time(answer: FetchResponse) -> None:
    """The broker loses the times when it converts a batch to messages of magic 1."""

    def change(entry: bytes) -> bytes:
        return put(entry, ">q", VALUES_AT, -1) if b"converted" in entry else entry

    change_entries(answer, change)


@answers(
    "RECF-024",
    r"(gzip|snappy|lz4), .*: key, value, time are \(None, .*, not \(b'converted'",
    OF_SETS,
)
def conversion_of_compressed_batches_loses_keys(answer: FetchResponse) -> None:
    """The broker loses the keys when it converts a compressed batch to older messages."""

    def without_key(_: int, inner: OldMessage) -> OldMessage:
        return replace(inner, key=None if inner.key == b"converted" else inner.key)

    def change(entry: bytes) -> bytes:
        return change_inside(entry, entry[MAGIC_AT], without_key)

    change_entries(answer, change)


@answers("RECF-025", r"both in one request: the errors are", OF_SETS)
def the_ban_holds_for_all_topics(answer: FetchResponse) -> None:
    """An old client gets UNSUPPORTED_VERSION for each topic beside one without down-conversion."""
    parts = [part for topic in answer.responses for part in topic.partitions]
    if any(part.error_code == ErrorCode.UNSUPPORTED_VERSION for part in parts):
        for part in parts:
            part.error_code, part.records = ErrorCode.UNSUPPORTED_VERSION, b""


@answers("RECF-031", r"\(time, bit 3\) are \[\(\d+, False\)", OF_MAGIC_1)
def conversion_loses_the_type_of_time(answer: FetchResponse) -> None:
    """The broker clears bit 3 when it converts a batch to messages of magic 1."""

    def change(entry: bytes) -> bytes:
        is_stamped = b"stamped" in entry
        return put(entry, ">b", ATTRIBUTES_AT, 0) if is_stamped else entry

    change_entries(answer, change)


class OldVersionsAreAnswered(FrameRule):
    """The broker answers Fetch up to v3 and Produce up to v2, with a wrong body."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        last = None if seen.api is None else LAST_OLD.get(seen.api.name)
        return [error_answer(seen)] if last is not None and seen.version <= last else []


DEFECTS = [
    conversion_loses_the_type_of_time,
    checksum_covers_key_and_value_alone,
    a_message_does_not_tell_whose_time_it_has,
    messages_are_padded,
    a_set_begins_with_its_count,
    two_wrappers_are_taken,
    offsets_inside_magic_1_are_those_of_the_log,
    offsets_inside_magic_0_count_from_0,
    odd_offsets_inside_are_refused,
    magic_1_comes_as_it_is,
    conversion_loses_the_time,
    the_ban_holds_for_all_topics,
    conversion_of_compressed_batches_loses_keys,
    changed_field("RECF-025", "the_ban_on_conversion_is_not_told",
        r"is forbidden: error is NONE \(0\)",
        "Fetch returns no records and no error to an old client of a topic without "
        "down-conversion.",
        FetchResponse, "responses.partitions.error_code",
        ErrorCode.UNSUPPORTED_VERSION, ErrorCode.NONE, OF_SETS, also={"records": b""}),
    changed_field("RECF-026", "idempotent_batches_are_converted",
        r"an idempotent batch: error is NONE \(0\)|a transactional batch is taken",
        "A topic of an older format acknowledges an idempotent batch.",
        ProduceResponse, "responses.partition_responses.error_code",
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.NONE, range(3, 99),
        also={"base_offset": 0}),
    rule("RECF-027", NOT_CLOSED, OldVersionsAreAnswered),
]  # fmt: skip

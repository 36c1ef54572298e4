"""Lengths and counts that lie cost nothing: memory is bounded by the bytes that are there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from harness.codec import CodecError, decode_prefix, encode
from harness.codec.messages import DeleteTopicsRequest, FetchRequest, ProduceRequest
from harness.codec.records import (
    Record,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from harness.codec.structs import Message
from harness.codec.varint import encode_uvarint
from labs.fuzz import memory
from labs.message_values.values import rich
from tests.codec.each_layout import each_due_class
from tests.codec.realistic import realistic

pytestmark = pytest.mark.rotates(8)

FIXED_LIES = [b"\x7f\xff\xff\xff", b"\x7f\xff"]
COMPACT_LIES = [b"\xff\xff\xff\xff\x07"]
FIXED_BYTES = 64 * 1024  # an error with its traceback, lines of source that it shows
PER_INPUT_BYTE = 8
# An object takes 40 bytes and 8 for each field. Structs of fewer bytes than about a tenth of that
# cannot stay within 8 times the input, whatever is done; here most of a message is made of such:
# an API and its two versions, a partition and its error, a range of offsets and what became of it.
PER_BYTE_OF_SMALL_STRUCTS = 14
OF_SMALL_STRUCTS = frozenset(
    {
        "AddPartitionsToTxnResponse",
        "AlterPartitionReassignmentsRequest",
        "AlterPartitionRequest",
        "AlterReplicaLogDirsResponse",
        "ApiVersionsResponse",
        "AssignReplicasToDirsRequest",
        "AssignReplicasToDirsResponse",
        "ConsumerGroupCurrentMemberAssignmentValue",
        "ConsumerGroupHeartbeatRequest",
        "ConsumerGroupPartitionMetadataValue",
        "ConsumerGroupTargetAssignmentMemberValue",
        "CreatePartitionsRequest",
        "DeleteShareGroupStateRequest",
        "DescribeQuorumRequest",
        "DescribeQuorumResponse",
        "FetchRequest",
        "LeaderAndIsrResponse",
        "LeaderChangeMessage",
        "OffsetCommitResponse",
        "OffsetDeleteRequest",
        "OffsetDeleteResponse",
        "ProduceResponse",
        "QuorumStateData",
        "ReadShareGroupStateRequest",
        "ReadShareGroupStateSummaryRequest",
        "RemoteLogSegmentMetadataRecord",
        "RemoteLogSegmentMetadataSnapshotRecord",
        "ShareAcknowledgeRequest",
        "ShareFetchRequest",
        "ShareGroupCurrentMemberAssignmentValue",
        "ShareGroupTargetAssignmentMemberValue",
        "ShareSnapshotValue",
        "ShareUpdateValue",
        "SubscriptionInfoData",
        "TxnOffsetCommitResponse",
        "WriteTxnMarkersResponse",
    }
)
PER_BYTE_OF_EMPTY_STRUCTS = 60  # 3 bytes become an object with an empty list
LARGE_BYTES = 32 * 1024
FILLED_BYTES, FILLED_WITH = 100_000, (b"\0", b"\x01", b"\x7f", b"\xff")
LONG_BYTES = 400
PLACES = 2
MORE_MEASUREMENTS = 2


def bounded(call: Callable[[], object], allowed_bytes: int) -> int:
    """The most memory that a second ``call`` holds, which is asserted not to be more than allowed.

    What is made once is not counted. Other threads of the process allocate too, so a higher peak
    is measured again.
    """
    with suppress(CodecError):
        call()
    peak = memory.peak_bytes(call)
    for _ in range(MORE_MEASUREMENTS):
        if peak > allowed_bytes:
            peak = min(peak, memory.peak_bytes(call))
    assert peak <= allowed_bytes
    return peak


@each_due_class
def test_decode_with_false_length_at_any_byte_allocates_bounded_memory(cls: type[Message]) -> None:
    for version in {cls.message_spec.valid.lowest, cls.message_spec.valid.highest}:
        raw = encode(rich(cls, version), version)
        lies = COMPACT_LIES if version in cls.message_spec.flexible else FIXED_LIES
        for data in _with_lies(raw, lies):
            _decoding_is_bounded(cls, version, data, FIXED_BYTES + PER_INPUT_BYTE * len(data))


@pytest.mark.rotates(20)
@each_due_class
def test_decode_of_large_message_allocates_memory_proportional_to_input(cls: type[Message]) -> None:
    """True or with a lie in it."""
    small = cls.__name__ in OF_SMALL_STRUCTS
    per_byte = PER_BYTE_OF_SMALL_STRUCTS if small else PER_INPUT_BYTE
    for version in {cls.message_spec.valid.lowest, cls.message_spec.valid.highest}:
        message = realistic(cls, version, LARGE_BYTES)
        if message is None:
            continue  # one that cannot become large
        raw = encode(message, version)
        lies = COMPACT_LIES if version in cls.message_spec.flexible else FIXED_LIES[:1]
        lied = [
            raw[:at] + lie + raw[at + len(lie) :]
            for lie in lies
            for at in range(0, len(raw), len(raw) // PLACES)
        ]
        for data in (raw, *lied):
            _decoding_is_bounded(cls, version, data, FIXED_BYTES // 8 + per_byte * len(data))


def _with_lies(raw: bytes, lies: list[bytes]) -> list[bytes]:
    """Every byte of a message of usual size, and a seventh of those of a very long one."""
    places = range(0, len(raw), 7 if len(raw) > LONG_BYTES else 1)
    return [raw[:at] + lie + raw[at + len(lie) :] for lie in lies for at in places]


def _decoding_is_bounded(cls: type[Message], version: int, data: bytes, allowed_bytes: int) -> int:
    return bounded(lambda: decode_prefix(cls, version, data), allowed_bytes)


@each_due_class
def test_decode_of_large_invalid_input_allocates_at_most_8_times_its_size(
    cls: type[Message],
) -> None:
    """Every length and count that these bytes say is a lie; at most eight times their size."""
    for version in {cls.message_spec.valid.lowest, cls.message_spec.valid.highest}:
        for byte in FILLED_WITH:
            data = byte * FILLED_BYTES
            _decoding_is_bounded(cls, version, data, 8 * len(data))


DENSE: list[tuple[type[Message], int, bytes, bytes, int]] = [
    (FetchRequest, 12, encode(FetchRequest(), 12)[:25], b"\x01\x01\x00", 5_000),
    (ProduceRequest, 9, encode(ProduceRequest(), 9)[:7], b"\x01\x01\x00", 5_000),
    (DeleteTopicsRequest, 4, b"", b"\x01", 20_000),
]


@pytest.mark.parametrize(("cls", "version", "before", "element", "count"), DENSE)
def test_decode_of_smallest_elements_stays_within_memory_bound(
    cls: type[Message], version: int, before: bytes, element: bytes, count: int
) -> None:
    """As many of the smallest elements as there are bytes, and then the end is missing."""
    data = before + encode_uvarint(count + 1) + element * count
    allowed_bytes = FIXED_BYTES + PER_BYTE_OF_EMPTY_STRUCTS * len(data)
    peak = _decoding_is_bounded(cls, version, data, allowed_bytes)
    assert peak > 4 * len(data), "the elements were not read: this measures nothing"


def test_false_record_count_raises_codec_error_in_bounded_memory() -> None:
    batch = RecordBatch(records=[Record(b"x")], record_count=2**31 - 1)
    data = encode_batch(batch)
    with pytest.raises(CodecError, match="2147483647 records promised, 1 found"):
        decode_batches(data)
    bounded(lambda: decode_batches(data), FIXED_BYTES)

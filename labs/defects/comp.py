"""Defects of area COMP: compressed batches, lost, changed, taken and refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.codec import CodecError
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, ProduceRequest, ProduceResponse
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    CODEC_MASK,
    BatchHeader,
    CompressionError,
    RecordBatch,
    decode_batches,
)
from harness.codec.records.compression import CODEC_IDS, decompress
from harness.proxies import SeenRequest
from labs.defects.defect import Defect
from labs.defects.edited_answer import answers
from labs.defects.prod import change_stored

Answer = ProduceResponse.PartitionProduceResponse
MAGIC_AT = 16
FIRST_OF_BATCHES = 3
LIMIT_BYTES = 1 << 20
XERIAL = b"\x82SNAPPY\x00"
SMALL_LIMIT_BYTES = 2000  # of the topic that COMP-010 asks about


def _sent(seen: SeenRequest) -> bytes:
    """The bytes for the request's only partition; empty unless they are a batch of magic 2."""
    assert isinstance(seen.message, ProduceRequest)
    for topic in seen.message.topic_data:
        data = bytes(topic.partition_data[0].records or b"")
        return data if len(data) > BATCH_HEADER_BYTES and data[MAGIC_AT] == 2 else b""
    return b""


def _sound(seen: SeenRequest) -> RecordBatch | None:
    """The batch in the request; None when it cannot be decoded."""
    try:
        return next(iter(decode_batches(_sent(seen))), None)
    except CodecError:
        return None


def _codec(seen: SeenRequest) -> int:
    data = _sent(seen)
    return BatchHeader.read(data).codec_id if data else 0


def _answers(message: ProduceResponse) -> list[Answer]:
    return [one for topic in message.responses for one in topic.partition_responses]


def _turns(
    requirement: str,
    reason: str,
    code: ErrorCode,
    situation: Callable[[SeenRequest], bool],
    *,
    when: Callable[[int], bool] = bool,
) -> Callable[[Callable[[], None]], Defect]:
    """Make a defect that answers Produce with ``code`` in a situation, if ``when`` of the error."""

    def make(described: Callable[[], None]) -> Defect:
        def edit(seen: SeenRequest, answer: ProduceResponse) -> None:
            for one in _answers(answer):
                if when(one.error_code) and situation(seen):
                    one.error_code = code
                    one.base_offset = 0 if code is ErrorCode.NONE else -1

        edit.__name__, edit.__doc__ = described.__name__, described.__doc__
        return answers(requirement, reason, range(FIRST_OF_BATCHES, 99))(edit)

    return make


def _is_taken(error_code: int) -> bool:
    return error_code == ErrorCode.NONE


def _is_unsupported(error_code: int) -> bool:
    return error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def _is_too_large(error_code: int) -> bool:
    return error_code == ErrorCode.MESSAGE_TOO_LARGE


def _first_value(batch: RecordBatch) -> bytes:
    return batch.records[0].value or b"" if batch.records else b""


# -- what is stored --------------------------------------------------------------------------------


@answers("COMP-001", r"snappy: came back as ")
def snappy_loses_the_last_record(answer: FetchResponse) -> None:
    """A batch in snappy comes back without its last record."""

    def change(batch: RecordBatch) -> RecordBatch:
        theirs = _first_value(batch).startswith(b"readable")
        if batch.compression != "snappy" or not theirs:
            return batch
        return replace(batch, records=batch.records[:-1], record_count=None)

    change_stored(answer, change)


def _recoded(word: bytes, codec: str) -> Callable[[RecordBatch], RecordBatch]:
    """Remove the codec from the batches of one test, which have ``word`` in their first value."""

    def change(batch: RecordBatch) -> RecordBatch:
        if batch.compression != codec or not _first_value(batch).startswith(word):
            return batch
        return replace(batch, attributes=batch.attributes & ~CODEC_MASK)

    return change


@answers("COMP-002", r"sent in .*, stored in \['none', 'none', ")
def gzip_is_unpacked_for_good(answer: FetchResponse) -> None:
    """The broker stores uncompressed the batches that a producer sent in gzip."""
    change_stored(answer, _recoded(b"unchanged", "gzip"))


@answers("COMP-003", r"a topic of lz4 holds \['none'\]")
def the_topics_codec_is_not_looked_at(answer: FetchResponse) -> None:
    """The broker stores batches uncompressed in a topic of lz4."""
    change_stored(answer, _recoded(b"recoded", "lz4"))


@answers("COMP-003", r"a topic of zstd holds \['none'\]")
def a_topic_never_has_zstd(answer: FetchResponse) -> None:
    """The broker stores batches uncompressed in a topic of zstd."""
    change_stored(answer, _recoded(b"recoded", "zstd"))


@answers("COMP-006", r"from, to \(14, 15\)", range(FIRST_OF_BATCHES, 99))
def a_packed_batch_is_told_by_its_end(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker acknowledges a compressed batch with the offset of its last record."""
    batch = _sound(seen)
    if batch is None or not batch.attributes & CODEC_MASK:
        return
    if _first_value(batch).startswith(b"numbered"):
        for one in _answers(answer):
            one.base_offset += len(batch.records) - 1


@answers("COMP-005", r"in zstd: error is UNSUPPORTED_COMPRESSION_TYPE", range(10, 11))
def zstd_comes_one_version_late(answer: FetchResponse) -> None:
    """Fetch v10 refuses batches in zstd with UNSUPPORTED_COMPRESSION_TYPE."""
    for topic in answer.responses:
        for one in topic.partitions:
            if one.records and BatchHeader.read(bytes(one.records)).codec_id == CODEC_IDS["zstd"]:
                one.error_code, one.records = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, b""


# -- what is taken ---------------------------------------------------------------------------------


def _is_zstd(seen: SeenRequest) -> bool:
    return _codec(seen) == CODEC_IDS["zstd"]


def _is_undecodable(seen: SeenRequest) -> bool:
    data, codec = _sent(seen), _codec(seen)
    if codec not in CODEC_IDS.values() or not codec:
        return False
    try:
        decompress(codec, data[BATCH_HEADER_BYTES:], LIMIT_BYTES)
    except CompressionError:
        return True
    return False


def _is_of_no_codec(seen: SeenRequest) -> bool:
    return _codec(seen) not in CODEC_IDS.values()


def _holds_less(seen: SeenRequest) -> bool:
    data, codec = _sent(seen), _codec(seen)
    if codec not in CODEC_IDS.values() or not codec or _is_undecodable(seen):
        return False
    inside = decompress(codec, data[BATCH_HEADER_BYTES:], LIMIT_BYTES)
    return b"number 3" in inside and b"number 4" not in inside


def _is_large_unpacked(seen: SeenRequest) -> bool:
    batch = _sound(seen)
    if batch is None or not batch.attributes & CODEC_MASK:
        return False
    return sum(len(record.value or b"") for record in batch.records) > 20 * SMALL_LIMIT_BYTES


def _is_raw_snappy(seen: SeenRequest) -> bool:
    data = _sent(seen)
    is_snappy = _codec(seen) == CODEC_IDS["snappy"]
    return is_snappy and not data[BATCH_HEADER_BYTES:].startswith(XERIAL)


def _is_one_packed(seen: SeenRequest) -> bool:
    batch = _sound(seen)
    return batch is not None and bool(_codec(seen)) and len(batch.records) == 1


@_turns("COMP-004", r"zstd: error is NONE \(0\), expected UNSUPP", ErrorCode.NONE, _is_zstd,
        when=_is_unsupported)  # fmt: skip
def zstd_is_taken_at_any_version() -> None:
    """The broker acknowledges a batch in zstd before Produce v7."""


@_turns("COMP-007", r"(begun wrong|cut in half): taken", ErrorCode.NONE, _is_undecodable)
def nobody_looks_inside() -> None:
    """The broker acknowledges a batch with records that it cannot decompress."""


@_turns("COMP-008", r"a batch of codec \d is taken", ErrorCode.NONE, _is_of_no_codec)
def unknown_codecs_are_taken() -> None:
    """The broker acknowledges a batch with an unknown codec."""


@_turns("COMP-009", r"five by the header, 4 inside: error is NONE", ErrorCode.NONE, _holds_less)
def records_inside_are_not_counted() -> None:
    """The broker acknowledges a compressed batch with fewer records than its header says."""


TOO_LARGE = ErrorCode.MESSAGE_TOO_LARGE


@_turns("COMP-010", r"gzip, stored as sent: error is MESSAGE_TOO_LARGE", TOO_LARGE,
        _is_large_unpacked, when=_is_taken)  # fmt: skip
def the_limit_is_of_the_unpacked_size() -> None:
    """The broker refuses a small batch if its decompressed records are larger than the limit."""


def _is_packed_and_small(seen: SeenRequest) -> bool:
    return bool(_codec(seen)) and not _is_large_unpacked(seen)


@_turns("COMP-010", r"limit \d+: error is NONE", ErrorCode.NONE,
        _is_packed_and_small, when=_is_too_large)  # fmt: skip
def the_limit_is_of_uncompressed_batches() -> None:
    """The broker acknowledges a compressed batch larger than max.message.bytes."""


@_turns("COMP-011", r"error is CORRUPT_MESSAGE", ErrorCode.CORRUPT_MESSAGE,
        _is_raw_snappy, when=_is_taken)  # fmt: skip
def snappy_has_to_be_framed() -> None:
    """The broker refuses snappy without the framing of the Java client."""


@_turns("COMP-012", r"(gzip|snappy|lz4|zstd): error is INVALID_RECORD", ErrorCode.INVALID_RECORD,
        _is_one_packed, when=_is_taken)  # fmt: skip
def one_record_may_not_be_packed() -> None:
    """The broker refuses a compressed batch of one record."""


DEFECTS = [
    snappy_loses_the_last_record,
    gzip_is_unpacked_for_good,
    the_topics_codec_is_not_looked_at,
    a_topic_never_has_zstd,
    zstd_is_taken_at_any_version,
    zstd_comes_one_version_late,
    a_packed_batch_is_told_by_its_end,
    nobody_looks_inside,
    unknown_codecs_are_taken,
    records_inside_are_not_counted,
    the_limit_is_of_the_unpacked_size,
    the_limit_is_of_uncompressed_batches,
    snappy_has_to_be_framed,
    one_record_may_not_be_packed,
]

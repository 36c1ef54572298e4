"""The preparation of a test, in the form that a broker from before record batches takes."""

from __future__ import annotations

from harness.client.errors import ApiNotAdvertised
from harness.codec.messages import ListOffsetsResponse
from harness.codec.records import NoOldForm
from harness.codec.records.run_conversion import down_convert_run

FIRST_PRODUCE_OF_BATCHES, FIRST_PRODUCE_OF_MAGIC_1 = 3, 2
FIRST_LIST_OFFSETS_OF_ONE = 1
_LIMIT_BYTES = 256 << 20


def records_for(produce_version: int, records: bytes | None) -> bytes | None:
    """Batches as this version of Produce carries them: up to v1 in magic 0, in v2 in magic 1.

    Raises ApiNotAdvertised for what has no such form (zstd).
    """
    if records is None or produce_version >= FIRST_PRODUCE_OF_BATCHES:
        return records
    magic = 1 if produce_version >= FIRST_PRODUCE_OF_MAGIC_1 else 0
    try:
        return down_convert_run(records, magic, limit_bytes=_LIMIT_BYTES)
    except NoOldForm as problem:
        raise ApiNotAdvertised(f"Produce 3+ is needed: {problem}") from problem


def with_one_offset(
    answer: ListOffsetsResponse.ListOffsetsPartitionResponse, version: int
) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    """Version 0 answers with a list: its first offset stands in ``offset`` then, -1 for none."""
    if version < FIRST_LIST_OFFSETS_OF_ONE:
        answer.offset = answer.old_style_offsets[0] if answer.old_style_offsets else -1
    return answer

"""The indexes of a segment."""

import pytest

from harness.codec import DecodeError
from harness.codec.data_framing import (
    OffsetIndexEntry,
    TimeIndexEntry,
    offset_index_bytes,
    offset_index_entries,
    time_index_bytes,
    time_index_entries,
)
from harness.codec.errors import EncodeError
from labs.data_vectors.log_folder_vectors import OFFSET_INDEX, TIME_INDEX

OFFSETS = [
    OffsetIndexEntry(539, 40211),
    OffsetIndexEntry(549, 80406),
    OffsetIndexEntry(559, 120592),
]
TIMES = [TimeIndexEntry(1795574200289, 539), TimeIndexEntry(1795574200293, 549)]


@pytest.mark.parametrize("zeros", [0, 8, 4096])
def test_offset_index_round_trips_with_trailing_zeros(zeros: int) -> None:
    """While its segment is written it has its largest size."""
    assert list(offset_index_entries(OFFSET_INDEX + bytes(zeros), 520)) == OFFSETS
    assert offset_index_bytes(OFFSETS, 520) == OFFSET_INDEX


@pytest.mark.parametrize("zeros", [0, 12, 4092])
def test_time_index_round_trips_with_trailing_zeros(zeros: int) -> None:
    assert list(time_index_entries(TIME_INDEX + bytes(zeros), 520)) == TIMES
    assert time_index_bytes(TIMES, 520) == TIME_INDEX


def test_index_entry_that_ends_in_zeros_is_read_whole() -> None:
    entry = OffsetIndexEntry(1, 0x0100_0000)
    assert list(offset_index_entries(offset_index_bytes([entry], 0) + bytes(8), 0)) == [entry]
    first = TimeIndexEntry(7 << 40, 0)
    assert list(time_index_entries(time_index_bytes([first], 0), 0)) == [first]


@pytest.mark.parametrize("left", range(1, 8))
def test_truncated_index_entry_raises_decode_error(left: int) -> None:
    with pytest.raises(DecodeError, match=r"OffsetIndex.*\[1\] at byte 8: .*no multiple of 8"):
        offset_index_entries(OFFSET_INDEX[: 8 + left], 0)
    with pytest.raises(DecodeError, match=r"TimeIndex.*\[1\] at byte 12: .*no multiple of 12"):
        time_index_entries(TIME_INDEX[: 12 + left], 0)


def test_index_entry_too_far_from_base_offset_raises_encode_error() -> None:
    with pytest.raises(EncodeError, match=r"OffsetIndex.*\[0\]"):
        offset_index_bytes([OffsetIndexEntry(1 << 31, 1)], 0)
    with pytest.raises(EncodeError, match=r"TimeIndex.*\[0\]"):
        time_index_bytes([TimeIndexEntry(1, 1 << 31)], 0)

"""A segment's indexes, longer than one read of them."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.reference_broker.storage.index_file import EntriesOutOfOrder, OffsetIndex, TimeIndex
from harness.reference_broker.storage.open_files import OpenFiles

BASE, ROOM_BYTES = 1_000, 10 << 20
COUNTS = (1, 2, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049, 5_000, 9_217)


@pytest.fixture
def files() -> Iterator[OpenFiles]:
    found = OpenFiles()
    yield found
    found.close_under(Path("/"))


@pytest.mark.rotates(8)
@pytest.mark.parametrize("count", COUNTS)
def test_offset_index_finds_each_offset_and_position(
    tmp_path: Path, files: OpenFiles, count: int
) -> None:
    index = OffsetIndex(files, tmp_path / "x.index", BASE, ROOM_BYTES)
    entries = [(7 + number * 3, 4 + number * 5) for number in range(count)]
    with index.gathered():
        for offset, position in entries:
            index.add(BASE + offset, position)
    offsets = [offset for offset, _ in entries]
    for offset in range(0, 12 + count * 3, 1 + count // 200):
        place = bisect_right(offsets, offset) - 1
        assert index.position_of(BASE + offset) == (entries[place][1] if place >= 0 else 0)
    for position in range(0, 12 + count * 5, 1 + count // 200):
        if position == entries[0][1]:
            continue  # see below
        above = next((BASE + offset for offset, at in entries if at >= position), None)
        assert index.offset_above(position) == above


def index_of(path: Path, files: OpenFiles, entries: list[tuple[int, int]]) -> OffsetIndex:
    path.write_bytes(b"".join(struct.pack(">ii", *entry) for entry in entries))
    return OffsetIndex(files, path, BASE, ROOM_BYTES)


def test_offset_above_skips_first_entry_at_same_position(tmp_path: Path, files: OpenFiles) -> None:
    """Kafka's search does not look at the entry at which it begins (AbstractIndex)."""
    one = index_of(tmp_path / "one.index", files, [(7, 200)])
    assert [one.offset_above(at) for at in (199, 200, 201)] == [BASE + 7, None, None]
    two = index_of(tmp_path / "two.index", files, [(7, 200), (9, 400)])
    assert [two.offset_above(at) for at in (199, 200, 400)] == [BASE + 7, BASE + 9, BASE + 9]


def test_unsorted_index_is_searched_by_binary_search_as_in_kafka(
    tmp_path: Path, files: OpenFiles
) -> None:
    """From both ends to the middle, without a look at the others (AbstractIndex, binarySearch)."""
    index = index_of(tmp_path / "x.index", files, [(5, 50), (3, 30), (9, 90), (1, 10), (4, 40)])
    assert index.position_of(BASE + 4) == 0  # the first is larger
    assert index.position_of(BASE + 5) == 50  # by the middle, which is larger, then by the second
    assert index.position_of(BASE + 6) == 30
    assert index.position_of(BASE + 9) == 90
    assert index.position_of(BASE + 10) == 40
    assert index.offset_above(35) == BASE + 5
    assert index.offset_above(60) == BASE + 9


def test_negative_position_is_returned_unchanged(tmp_path: Path, files: OpenFiles) -> None:
    assert index_of(tmp_path / "x.index", files, [(5, -50)]).position_of(BASE + 5) == -50


@pytest.mark.parametrize("power", [0.3, 3])
def test_time_index_finds_unevenly_spaced_timestamps(
    tmp_path: Path, files: OpenFiles, power: float
) -> None:
    times = TimeIndex(files, tmp_path / "x.timeindex", BASE, ROOM_BYTES)
    entries = sorted(
        {int((number + 1) ** power * 1_000): number for number in range(9_000)}.items()
    )
    with times.gathered():
        for time, number in entries:
            times.add(time, BASE + number)
    known = [time for time, _ in entries]
    for time in range(0, known[-1] + 2, known[-1] // 500):
        place = bisect_right(known, time) - 1
        assert times.offset_of(time) == BASE + (entries[place][1] if place >= 0 else 0)


@pytest.mark.parametrize("count", COUNTS)
def test_time_index_is_cut_at_offset(tmp_path: Path, files: OpenFiles, count: int) -> None:
    times = TimeIndex(files, tmp_path / "x.timeindex", BASE, ROOM_BYTES)
    with times.gathered():
        for number in range(count):
            times.add(10 * number, BASE + number)
    times.cut_from_offset(BASE + count // 2)
    assert times.count == count // 2
    assert (tmp_path / "x.timeindex").stat().st_size == 12 * (count // 2)
    assert times.last == (None if count == 1 else (10 * (count // 2 - 1), count // 2 - 1))


def test_gathered_index_entries_equal_entries_written_one_by_one(
    tmp_path: Path, files: OpenFiles
) -> None:
    single = OffsetIndex(files, tmp_path / "single.index", BASE, ROOM_BYTES)
    gathered = OffsetIndex(files, tmp_path / "gathered.index", BASE, ROOM_BYTES)
    for index in (single, gathered):
        index.add(BASE + 1, 10)
    single.add(BASE + 2, 20)
    single.add(BASE + 3, 30)
    with gathered.gathered():
        gathered.add(BASE + 2, 20)
        gathered.add(BASE + 3, 30)
        with pytest.raises(EntriesOutOfOrder):
            gathered.add(BASE + 3, 40)
    single.add(BASE + 4, 50)
    gathered.add(BASE + 4, 50)
    assert gathered.path.read_bytes() == single.path.read_bytes()
    assert len(gathered.path.read_bytes()) == 4 * 8

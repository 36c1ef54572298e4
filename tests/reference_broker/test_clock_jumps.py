"""The machine's clock jumps, back and forward: logs lose no record that is not old by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.ids import Offset, TimeMs
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.state.cleaning.log_retention import delete_old_segments
from harness.reference_broker.state.partition.offset_search import record_at
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.stored_log import StoredLog
from tests.reference_broker.storage.test_storage import SMALL, all_of, names, opened, partition_in

HOUR_MS, YEAR_MS = 3_600_000, 365 * 86_400_000
BEFORE = TimeMs(1_700_000_000_000)
BY_BROKER = {"message.timestamp.type": "LogAppendTime", "retention.ms": str(24 * HOUR_MS), **SMALL}
JUMPS = {"back": -HOUR_MS, "far back": -YEAR_MS, "forward": HOUR_MS}


class JumpingClock:
    """The clock of a broker that dates records; ``times``: of its records, by their offsets."""

    def __init__(self, logs: LogDirectory, configs: dict[str, str]) -> None:
        self.log: Partition = partition_in(logs, configs=configs)
        self.now, self.times = BEFORE, list[int]()

    def jump(self, by_ms: int) -> None:
        self.now = TimeMs(self.now + by_ms)

    def append(self, count: int = 4) -> None:
        """Append one record per second."""
        for _ in range(count):
            self.jump(1_000)
            batch = RecordBatch([Record(b"v" * 100)], base_timestamp=self.now)
            at = self.log.append(encode_batch(batch), self.now)
            assert at.base_offset == len(self.times)
            self.times.append(self.now)


def found_by_times(log: Partition, times: list[int]) -> list[int]:
    """The offset that ListOffsets finds for each of these times."""
    return [record_at(log, time).offset for time in times]


def first_reaching(times: list[int]) -> list[int]:
    """The first record of that time or a later one, by the definition of ListOffsets."""
    return [next(at for at, one in enumerate(times) if one >= time) for time in times]


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
@pytest.mark.parametrize("clean", [False, True])
def test_clock_jump_loses_no_record_and_keeps_timestamp_search(
    tmp_path: Path, jump: int, clean: bool
) -> None:
    """Offsets rise, and a time leads to the first record that reaches it, even after a start."""
    with opened(tmp_path, clean=clean) as logs:
        clock = JumpingClock(logs, BY_BROKER)
        clock.append()
        clock.jump(jump)
        clock.append()
        clock.jump(-jump)
        clock.append()
        delete_old_segments(clock.log, clock.now)
        stored = all_of(clock.log)
        assert (clock.log.log.start_offset, clock.log.log.end_offset) == (0, 12)
        assert found_by_times(clock.log, clock.times) == first_reaching(clock.times)
    with opened(tmp_path) as logs:
        again = partition_in(logs, configs=BY_BROKER)
        assert all_of(again) == stored
        assert found_by_times(again, clock.times) == first_reaching(clock.times)


def test_clock_jump_back_delays_retention(tmp_path: Path) -> None:
    """Segments of the future are young. When the clock is right again each goes at its own time."""
    with opened(tmp_path) as logs:
        clock = JumpingClock(logs, BY_BROKER)
        clock.append()
        clock.jump(-YEAR_MS)
        delete_old_segments(clock.log, clock.now)
        assert clock.log.log.start_offset == 0
        clock.jump(YEAR_MS + 25 * HOUR_MS)
        delete_old_segments(clock.log, clock.now)
        assert (clock.log.log.start_offset, clock.log.log.end_offset) == (4, 4)


def test_clock_jump_forward_deletes_only_records_older_than_retention(tmp_path: Path) -> None:
    """The log continues where it was; new records are kept for their time."""
    with opened(tmp_path) as logs:
        clock = JumpingClock(logs, BY_BROKER)
        clock.append()
        clock.jump(YEAR_MS)
        clock.append()
        delete_old_segments(clock.log, clock.now)
        assert (clock.log.log.start_offset, clock.log.log.end_offset) == (4, 8)
        clock.jump(-YEAR_MS)
        clock.append()
        delete_old_segments(clock.log, clock.now)
        assert (clock.log.log.start_offset, clock.log.log.end_offset) == (4, 12)


def test_flush_ms_applies_after_clock_jump_back(tmp_path: Path) -> None:
    """The due time is that of the new clock."""
    with opened(tmp_path) as logs:
        clock = JumpingClock(logs, {"flush.ms": "1000"})
        clock.append()
        logs.flush_due(clock.now)
        clock.jump(-YEAR_MS)
        clock.append()
        logs.flush_due(clock.now)
        log = clock.log.log
        assert isinstance(log, StoredLog)
        assert log.recovery_point == Offset(8)


def test_deleted_segment_files_are_removed_after_clock_jump_back(tmp_path: Path) -> None:
    configs = {**BY_BROKER, "file.delete.delay.ms": "60000"}
    with opened(tmp_path) as logs:
        clock = JumpingClock(logs, configs)
        clock.append()
        logs.tidy(TimeMs(clock.now + 25 * HOUR_MS))
        delete_old_segments(clock.log, TimeMs(clock.now + 25 * HOUR_MS))
        assert names(tmp_path, ".deleted")
        logs.tidy(clock.now)
        logs.tidy(TimeMs(clock.now + 60_001))
        assert not names(tmp_path, ".deleted")

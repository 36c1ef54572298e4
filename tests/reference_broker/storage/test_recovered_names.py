"""Damaged names of files, empty segments and wrong magics, as Kafka 4.4.0 recovers them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.reference_broker.state.log.log_store import UnreadableLog
from tests.reference_broker.storage.test_recovery_of_damaged_logs import MAGIC_AT, spoilt
from tests.reference_broker.storage.test_storage import opened, partition_in
from tests.reference_broker.storage.test_storage_recovery import batch, put


@pytest.mark.parametrize("name", ["x.log.swap", "x.log.cleaned", ".swap", "1x.index.cleaned"])
def test_unfinished_file_not_named_by_offset_is_refused(tmp_path: Path, name: str) -> None:
    log = put(tmp_path, batch(0))
    (log / name).touch()
    with opened(tmp_path) as logs, pytest.raises(UnreadableLog, match="not named by an offset"):
        partition_in(logs)


@pytest.mark.parametrize(("clean", "known"), [(True, [8]), (False, [9, 8])])
def test_empty_segment_within_another_hides_producers_after_clean_end_only(
    tmp_path: Path, clean: bool, known: list[int]
) -> None:
    """It has no index, so it is recovered at once, and notes the known producers; the next segments
    continue from that. If all are recovered, the whole segment before has that note (LogLoader)."""
    log = put(tmp_path, batch(0), batch(1, 1, 0, 9))
    put(tmp_path, batch(2, 1, 0, 8), base=2)
    with opened(tmp_path, clean=clean) as logs:
        assert [one.producer_id for one in partition_in(logs).producers.active()] == [9, 8]
    (log / f"{1:020d}.log").touch()
    with opened(tmp_path) as logs:
        assert [one.producer_id for one in partition_in(logs).producers.active()] == known


def test_negative_magic_in_last_segment_is_refused_as_old_message(tmp_path: Path) -> None:
    """It is below 2, so its content would give its base, if it could be read."""

    def turn_negative(data: bytearray) -> None:
        data[MAGIC_AT : MAGIC_AT + 2] = 0x82, 4  # a codec that it would have

    put(tmp_path, batch(0), spoilt(batch(1), turn_negative), clean=True)
    with opened(tmp_path) as logs, pytest.raises(UnreadableLog, match="t-0"):
        partition_in(logs)

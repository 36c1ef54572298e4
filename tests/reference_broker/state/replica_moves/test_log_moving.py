"""Replicas move from one folder to another while they are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.base.ids import LeaderEpoch, Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import encode_rows
from harness.reference_broker.effects import PartitionGrew
from harness.reference_broker.state.cleaning.log_cleanable import cleanable
from harness.reference_broker.state.cleaning.log_compaction import compact
from harness.reference_broker.state.cleaning.log_retention import retention_round
from harness.reference_broker.state.log.log_store import UnreadableLog
from harness.reference_broker.state.partition.following import restart_at, truncate
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.replica_moves.log_moving import lag_of
from harness.reference_broker.storage.stored_log import StoredLog
from tests.reference_broker.moving import moving
from tests.reference_broker.storage.test_storage import NOW, SMALL, all_of, produce, write

BIG = b"x" * 600_000  # two of them are more than a piece
GONE = "t-0-delete"
COMING = "t-0-future"


def keyed(partition: Partition, count: int) -> None:
    """Write records, each into a new segment."""
    for number in range(count):
        partition.append(encode_rows([(NOW + 1_000 * number, b"k", b"%d" % number)]), NOW)


@contextmanager
def without_its_future(replica: Partition) -> Iterator[None]:
    """Hide the folder of the future log meanwhile."""
    future, replica.future = replica.future, None
    yield
    replica.future = future


def test_replica_accepts_writes_while_it_moves(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        assert broker.wish("second") is ErrorCode.NONE
        assert broker.places() == {"first": False, "second": True}
        (effect,) = broker.bring(steps=1)
        assert isinstance(effect, PartitionGrew)
        assert broker.folders() == {"first": ["t-0"], "second": [COMING], "third": []}
        write(replica, 1, b"meanwhile")
        replica.high_watermark = Offset(3)
        before, high_watermark = all_of(replica), replica.high_watermark
        broker.bring()
        assert broker.folders() == {"first": [GONE], "second": ["t-0"], "third": []}
        assert (all_of(replica), replica.high_watermark) == (before, high_watermark)
        assert replica.future is None
        assert not broker.state.cluster.host.moving
        write(replica)
        assert replica.log.end_offset == 6
        broker.files.logs.tidy(NOW)
        assert broker.folders()["first"] == []
        after = all_of(replica)
    with moving(tmp_path) as broker:
        assert all_of(broker.replica()) == after


def test_future_log_reports_size_and_offset_lag(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=1)
        first, second, _ = (one.logs.get(("t", 0)) for one in broker.files.logs.directories())
        assert first is not None
        assert second is not None
        assert 0 < second.size_bytes < first.size_bytes == replica.log.size_bytes
        assert lag_of(replica, first.end_offset, is_future=False) == 0
        assert lag_of(replica, second.end_offset, is_future=True) == 4 - second.end_offset > 0


def test_move_keeps_epochs_producers_and_log_start_offset(tmp_path: Path) -> None:
    with moving(tmp_path, clean=True) as broker:
        replica = broker.replica(**SMALL)
        for sequence in range(6):
            produce(replica, sequence)
        replica.delete_records(3)
        replica.epochs.assign(LeaderEpoch(4), replica.log.end_offset)  # nothing written in it yet
        broker.wish("third")
        broker.bring()
        assert broker.folders()["third"] == ["t-0"]
        assert (replica.log.start_offset, replica.log.end_offset) == (3, 6)
        assert replica.epochs.latest == 4
        assert produce(replica, 5) == 5  # known: not appended again
        assert replica.log.end_offset == 6
        replica.leader_epoch = LeaderEpoch(5)
        assert produce(replica, 6) == 6
    notes = (tmp_path / "third" / "t-0" / "leader-epoch-checkpoint").read_text().split()
    assert notes[-2:] == ["5", "6"]
    with moving(tmp_path) as broker:
        replica = broker.replica()
        assert (replica.log.start_offset, replica.log.end_offset) == (3, 7)
        assert produce(replica, 6) == 6


def test_move_back_to_first_folder_keeps_log_and_start_offset(tmp_path: Path) -> None:
    """The notes about the first stay in a folder do not apply to the second."""
    with moving(tmp_path, clean=True) as broker:
        replica = broker.replica()
        write(replica, 5)
        replica.delete_records(2)
    with moving(tmp_path) as broker:
        replica = broker.replica()
        before = all_of(replica)
        for folder in ("second", "first"):
            assert broker.wish(folder) is ErrorCode.NONE
            broker.bring()
            assert broker.places() == {folder: False}
            assert (replica.log.start_offset, all_of(replica)) == (2, before)


@pytest.mark.parametrize(
    ("folder", "told", "left"),
    [("first", {"first": False}, ["t-0"]), ("third", {"first": False, "third": True}, ["t-0"])],
    ids=["home", "elsewhere"],
)
def test_new_move_request_replaces_running_move(
    tmp_path: Path, folder: str, told: dict[str, bool], left: list[str]
) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=1)
        assert broker.wish(folder) is ErrorCode.NONE
        assert broker.places() == told
        assert broker.folders()["first"] == left
        assert broker.folders()["second"] == [GONE]
        broker.bring()
        assert broker.places() == {folder: False}


def test_repeated_move_request_keeps_future_log(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        write(broker.replica(), 4, BIG)
        broker.wish("second")
        broker.bring(steps=1)
        (coming,) = (tmp_path / "second").glob("*-future")
        assert broker.wish("second") is ErrorCode.NONE
        assert list((tmp_path / "second").glob("*-future")) == [coming]


def test_move_request_before_creation_places_replica_or_returns_error(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        assert broker.wish("third") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        broker.replica()
        assert broker.places() == {"third": False}
        assert broker.wish("second", index=1) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert broker.wish("fourth") is ErrorCode.LOG_DIR_NOT_FOUND
        long = "l" * 214  # with its suffix more than a name may have
        assert broker.wish("first", long) is ErrorCode.INVALID_TOPIC_EXCEPTION
        assert broker.wish("first", long[1:]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_move_of_missing_replica_in_1_1_1_returns_replica_not_available(tmp_path: Path) -> None:
    with moving(tmp_path, like="1.1.1") as broker:
        assert broker.wish("third") is ErrorCode.REPLICA_NOT_AVAILABLE
        assert broker.wish("third", "l" * 214) is ErrorCode.REPLICA_NOT_AVAILABLE


@pytest.mark.parametrize("clean", [False, True])
def test_move_resumes_after_restart(tmp_path: Path, clean: bool) -> None:
    with moving(tmp_path, clean=clean) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=1)
        before = all_of(replica)
    with moving(tmp_path) as broker:
        replica = broker.replica()
        broker.resume()
        assert replica.future is not None
        assert 0 < replica.future.log.end_offset < 4
        broker.bring()
        assert broker.places() == {"second": False}
        assert all_of(replica) == before


def test_truncation_also_truncates_future_log(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=3)
        assert replica.future is not None
        assert replica.future.log.end_offset == 3
        truncate(replica, Offset(1))
        assert replica.future.log.end_offset == 1
        restart_at(replica, Offset(9), NOW)
        assert replica.future.log.end_offset == 9
        write(replica, 1, b"again")
        broker.bring()
        assert broker.places() == {"second": False}
        assert (replica.log.start_offset, replica.log.end_offset) == (9, 10)


def test_future_log_finds_missed_truncation_by_leader_epochs(tmp_path: Path) -> None:
    """The folder of the future log was away when the present one was cut."""
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=3)
        with without_its_future(replica):
            truncate(replica, Offset(2))
            replica.leader_epoch = LeaderEpoch(3)
            replica.epochs.assign(LeaderEpoch(3), Offset(2))
            write(replica, 3, b"another")
        before = all_of(replica)
        broker.bring()
        assert broker.places() == {"second": False}
        assert all_of(replica) == before


def test_future_log_with_later_epochs_is_truncated(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 2, BIG)
        replica.leader_epoch = LeaderEpoch(3)
        write(replica, 2, BIG)
        broker.wish("second")
        broker.bring(steps=3)
        with without_its_future(replica):
            truncate(replica, Offset(1))
            replica.leader_epoch = LeaderEpoch(1)
            write(replica, 1, b"another")
        before = all_of(replica)
        broker.bring()
        assert broker.places() == {"second": False}
        assert all_of(replica) == before


def test_offline_directory_refuses_move_of_existing_replica(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        write(broker.replica())
        (tmp_path / "third").rename(tmp_path / "gone")
        (tmp_path / "third").touch()
        broker.files.logs.checkpoint()
        for folder in ("second", "third"):
            assert broker.wish(folder) is ErrorCode.KAFKA_STORAGE_ERROR
        assert broker.wish("first") is ErrorCode.NONE
        assert broker.wish("third", "unknown") is ErrorCode.KAFKA_STORAGE_ERROR
        assert broker.places() == {"first": False}


def test_failed_destination_directory_drops_future_log(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=1)
        (tmp_path / "second").rename(tmp_path / "gone")
        (tmp_path / "second").touch()
        broker.files.logs.checkpoint()
        assert [one.is_online for one in broker.files.logs.directories()] == [True, False, True]
        broker.bring()
        assert replica.future is None
        write(replica)
        assert (replica.log.end_offset, replica.leader_problem()) == (5, ErrorCode.NONE)
        assert list((tmp_path / "gone").glob("*-future"))  # left as it is


def test_failed_source_directory_ends_move_and_takes_replica_offline(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        broker.replica("other")  # in the first, without which a node cannot live
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("third")
        broker.bring(steps=1)
        assert isinstance(replica.log, StoredLog)
        replica.log.fail(OSError(5, "Input/output error"))
        broker.bring()
        assert replica.future is None
        assert replica.leader_problem() is ErrorCode.KAFKA_STORAGE_ERROR
        assert lag_of(replica, Offset(1), is_future=True) == -1
        assert broker.folders()["third"] == [COMING]
        assert broker.wish("first") is ErrorCode.KAFKA_STORAGE_ERROR


def test_log_in_two_directories_raises_unreadable_log(tmp_path: Path) -> None:
    """As in Kafka: it cannot know which of the two is whole."""
    with moving(tmp_path) as broker:
        write(broker.replica())
    (tmp_path / "second" / "t-0").mkdir()
    with (
        moving(tmp_path) as broker,
        pytest.raises(UnreadableLog, match=r"t-0: it is in .*first and .*second"),
    ):
        broker.replica()


def test_topic_deletion_removes_future_log(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        write(broker.replica(), 4, BIG)
        broker.wish("second")
        broker.bring(steps=1)
        topic = broker.state.cluster.named("t")
        assert topic is not None
        broker.state.cluster.delete(topic)
        assert broker.folders() == {"first": [GONE], "second": [GONE], "third": []}
        assert broker.bring() == []
    with moving(tmp_path) as broker:
        broker.files.logs.tidy(NOW)  # what was left when the process was killed
        assert broker.folders() == {"first": [], "second": [], "third": []}


def test_deletion_of_topic_with_longest_name_shortens_folder_name(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        broker.replica("l" * 249)
        topic = broker.state.cluster.named("l" * 249)
        assert topic is not None
        broker.state.cluster.delete(topic)
        (left,) = (tmp_path / "first").glob("*-delete")
        assert len(left.name) == 255
        assert not broker.files.logs.has_failed()


def test_replica_is_not_compacted_while_it_moves(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica(
            cleanup_policy="compact", segment_ms="900", min_cleanable_dirty_ratio="0"
        )
        keyed(replica, 6)
        log = cleanable(replica, NOW)
        assert log is not None
        under_way = compact(log, NOW)
        next(under_way)
        broker.wish("second")
        assert cleanable(replica, NOW) is None
        assert list(under_way) == []
        broker.bring()
        assert broker.places() == {"second": False}
        log = cleanable(replica, NOW)
        assert log is not None
        for _ in compact(log, NOW):
            pass
        assert [batch.base_offset for batch in replica.log.between(Offset(0), Offset(6))] == [4, 5]
        assert not broker.files.logs.has_failed()


def test_topic_deletion_ends_running_compaction(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica(
            cleanup_policy="compact", segment_ms="900", min_cleanable_dirty_ratio="0"
        )
        keyed(replica, 6)
        log, topic = cleanable(replica, NOW), broker.state.cluster.named("t")
        assert log is not None
        assert topic is not None
        under_way = compact(log, NOW)
        next(under_way)
        broker.state.cluster.delete(topic)
        assert list(under_way) == []
        assert not broker.files.logs.has_failed()


def test_retention_of_future_log_deletes_segments_after_move(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica(
            file_delete_delay_ms="60000", retention_bytes="700000", internal_segment_bytes="700000"
        )
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=3)
        for _ in retention_round(broker.state.cluster, NOW):
            pass
        assert replica.future is not None
        assert (replica.future.log.start_offset, replica.log.start_offset) == (1, 2)
        broker.bring()
        assert broker.places() == {"second": False}
        broker.files.logs.tidy(NOW)
        (folder,) = (tmp_path / "second").glob("t-0")
        deleted = list(folder.glob("*.deleted"))
        broker.files.logs.tidy(TimeMs(NOW + 70_000))
        assert deleted
        assert not list(folder.glob("*.deleted"))

"""Several folders of logs: one that fails leaves the others."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from harness.base.ids import LeaderEpoch, PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.records import encode_rows
from harness.reference_broker.settings import BrokerSettings, folders_of
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.log.log_store import LogName, NoDirectoryLeft, UnreadableLog
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.partition.replica_host import ReplicaHost
from harness.reference_broker.state.registrations.directory_ids import UNASSIGNED
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.topic_names import CLUSTER_METADATA_TOPIC
from harness.reference_broker.storage.log_directories import LogDirectories
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.node_files import NodeFiles
from tests.reference_broker.storage.test_storage import NOW, OWN, TOPIC, opened_producers


def partition_in(logs: LogDirectories, name: str) -> Partition:
    """A replica that leads alone."""
    host = ReplicaHost(OWN, storage=logs)
    registration = PartitionRegistration((OWN,), (OWN,), OWN, LeaderEpoch(0))
    config, index = TopicConfig.of({}, {}), PartitionIndex(0)
    producers = opened_producers()
    return Partition.empty(TOPIC, index, config, producers, host, registration, NOW, name)


def write(partition: Partition) -> None:
    partition.append(encode_rows([(NOW, None, b"v")]), NOW)


def in_two(place: Path) -> NodeFiles:
    return NodeFiles([place / "first", place / "second"], "a", 1)


def put_a_file_in_place_of(folder: Path) -> None:
    folder.rename(folder.with_name("gone"))
    folder.touch()


def test_logs_are_spread_over_directories_and_reopened(tmp_path: Path) -> None:
    files = in_two(tmp_path)
    for name in "abcd":
        write(partition_in(files.logs, name))
    assert [len(one.logs) for one in files.logs.directories()] == [2, 2]
    assert len(set(files.directory_ids)) == 2
    where = [one.logs for one in files.logs.directories()]
    files.close(broker_epoch=1)
    again = in_two(tmp_path)
    assert [partition_in(again.logs, name).log.end_offset for name in "abcd"] == [1] * 4
    assert [one.logs for one in again.logs.directories()] == where
    again.close()


def test_log_in_two_directories_is_refused(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder / "a-0").mkdir(parents=True)
    files = in_two(tmp_path)
    with pytest.raises(UnreadableLog, match=r"a-0: it is in .*first and .*second"):
        partition_in(files.logs, "a")
    files.close()


def test_failed_directory_leaves_other_directory_online(tmp_path: Path) -> None:
    files = in_two(tmp_path)
    left, lost = (partition_in(files.logs, name) for name in "ab")
    for partition in (left, lost):
        write(partition)
    put_a_file_in_place_of(tmp_path / "second")
    files.logs.checkpoint()
    assert [one.is_online for one in files.logs.directories()] == [True, False]
    with pytest.raises(AppendRefused) as refused:
        write(lost)
    assert refused.value.error is ErrorCode.KAFKA_STORAGE_ERROR
    assert lost.leader_problem() is ErrorCode.KAFKA_STORAGE_ERROR
    assert (lost.log.end_offset, files.logs.lost) == (1, None)
    write(left)
    assert left.log.end_offset == 2
    files.close(broker_epoch=1)
    assert not (tmp_path / "gone" / ".kafka_cleanshutdown").exists()


def test_failed_write_returns_storage_error_and_takes_directory_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = in_two(tmp_path)
    partition_in(files.logs, "a")
    partition = partition_in(files.logs, "b")
    write(partition)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.reference_broker.storage.stored_segment.write_all", full)
    with pytest.raises(AppendRefused) as refused:
        write(partition)
    assert refused.value.error is ErrorCode.KAFKA_STORAGE_ERROR
    assert partition.log.end_offset == 1
    assert [one.is_online for one in files.logs.directories()] == [True, False]
    files.close()


def test_failure_of_first_directory_ends_node(tmp_path: Path) -> None:
    files = in_two(tmp_path)
    told: list[str] = []
    files.logs.on_lost = lambda: told.append(str(files.logs.lost))
    partition_in(files.logs, CLUSTER_METADATA_TOPIC)
    put_a_file_in_place_of(tmp_path / "first")
    files.logs.checkpoint()
    assert isinstance(files.logs.lost, NoDirectoryLeft)
    assert told == [str(files.logs.lost)]
    assert "first has failed" in told[0]
    files.close()


def test_directory_that_fails_at_start_is_skipped(tmp_path: Path) -> None:
    """A log that may be in it is not created elsewhere; a new log is."""
    files = in_two(tmp_path)
    for partition in (partition_in(files.logs, name) for name in "ab"):
        write(partition)
    files.close(broker_epoch=1)
    put_a_file_in_place_of(tmp_path / "second")
    files = in_two(tmp_path)
    assert [one.is_online for one in files.logs.directories()] == [True, False]
    left, lost = (partition_in(files.logs, name) for name in "ab")
    files.logs.started()
    write(left)
    assert left.log.end_offset == 2
    assert lost.leader_problem() is ErrorCode.KAFKA_STORAGE_ERROR
    assert [set(one.logs) for one in files.logs.directories()] == [{("a", 0)}, set()]
    new = partition_in(files.logs, "c")
    write(new)
    assert new.log.end_offset == 1
    assert (len(files.directory_ids), files.previous_epoch) == (1, -1)
    files.close()


def spoil_owner(folder: Path) -> None:
    """Make the owner of a folder unreadable."""
    (folder / "meta.properties").unlink()
    (folder / "meta.properties").mkdir()


def test_directory_with_unreadable_owner_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is given by a relative path, reported by the absolute one, and not locked then."""
    in_two(tmp_path).close()
    spoil_owner(tmp_path / "second")
    monkeypatch.chdir(tmp_path)
    files = in_two(Path())
    assert files.logs.is_online(str(tmp_path / "second")) is False
    assert len(files.directory_ids) == 1
    LogDirectory(tmp_path / "second").close(broker_epoch=None)
    files.close()


def test_unreadable_owner_of_first_directory_prevents_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_two(tmp_path).close()
    spoil_owner(tmp_path / "first")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoDirectoryLeft, match="log directory first cannot be used"):
        in_two(Path())


def test_unusable_first_directory_prevents_start(tmp_path: Path) -> None:
    (tmp_path / "first").touch()
    with pytest.raises(NoDirectoryLeft, match=r"log directory .*first cannot be used"):
        in_two(tmp_path)


def test_log_dirs_setting_names_folders_in_data_folder(tmp_path: Path) -> None:
    settings = BrokerSettings.of({"log.dirs": "one, two"})
    assert folders_of(settings, tmp_path) == [tmp_path / "one", tmp_path / "two"]
    assert folders_of(BrokerSettings.of(), tmp_path) == [tmp_path]


def opened_in(files: NodeFiles, name: str, believed_in: UUID) -> tuple[bool, UUID | None]:
    """True if the log of a partition can be used, and the directory that it is in."""
    named = LogName(name, TOPIC, 0)
    opened = files.logs.open(named, TopicConfig.of({}, {}), opened_producers(), NOW, believed_in)
    return not opened.log.is_offline, files.logs.directory_of(named)


def test_log_is_created_in_registered_directory(tmp_path: Path) -> None:
    files = in_two(tmp_path)
    first, second = files.directory_ids
    for name in "abc":
        assert opened_in(files, name, second) == (True, second)
    assert opened_in(files, "d", UUID(int=9)) == (True, first)
    assert opened_in(files, "a", first) == (True, second)
    files.close()


def test_unassigned_log_is_created_while_directory_is_skipped(tmp_path: Path) -> None:
    in_two(tmp_path).close(broker_epoch=1)
    put_a_file_in_place_of(tmp_path / "second")
    files = in_two(tmp_path)
    (first,) = files.directory_ids
    assert opened_in(files, "new", UNASSIGNED) == (True, first)
    assert opened_in(files, "old", UUID(int=9)) == (False, None)
    assert files.logs.failed_ids() == []
    files.close()


def test_failed_directory_is_reported_once(tmp_path: Path) -> None:
    files = in_two(tmp_path)
    told: list[list[UUID]] = []
    files.logs.on_failed = lambda: told.append(files.logs.failed_ids())
    put_a_file_in_place_of(tmp_path / "second")
    for _ in range(2):
        files.logs.checkpoint()
    assert told == [files.directory_ids[1:]]
    files.close()


@pytest.mark.parametrize("is_new", [True, False])
def test_new_log_is_created_in_other_directory_when_chosen_one_fails(
    tmp_path: Path, is_new: bool
) -> None:
    files = in_two(tmp_path)
    first, second = files.directory_ids
    assert opened_in(files, "a", UNASSIGNED) == (True, first)
    put_a_file_in_place_of(tmp_path / "second")
    found = opened_in(files, "b", UNASSIGNED if is_new else second)
    assert found == ((True, first) if is_new else (False, None))
    assert files.logs.failed_ids() == [second]
    files.close()


def test_directory_of_log_is_known_after_directory_failure(tmp_path: Path) -> None:
    files = in_two(tmp_path)
    lost = partition_in(files.logs, "b")
    named = LogName("b", TOPIC, 0)
    put_a_file_in_place_of(tmp_path / "first")
    files.logs.checkpoint()
    assert lost.log.is_offline
    assert (files.logs.path_of(named), files.logs.directory_of(named)) == (
        None,
        files.directory_ids[0],
    )
    files.close()

"""Logs in files: a restart finds the written batches, and no torn end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest

from harness.base.ids import BrokerId, LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.codec.data_framing import read_leader_epoch_checkpoint
from harness.codec.records import Record, RecordBatch, encode_batch, encode_rows
from harness.reference_broker.state.cleaning.log_retention import delete_old_segments
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.log_store import FolderInUse
from harness.reference_broker.state.partition.following import restart_at, truncate
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.partition.replica_host import ReplicaHost
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.storage.log_directories import LogDirectories
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.node_files import NodeFiles, cluster_id_in

TOPIC, OWN, NOW = UUID(int=5), BrokerId(1), TimeMs(1_000)
SMALL = {"internal.segment.bytes": "400", "index.interval.bytes": "0"}
"""A few batches in each segment, an index entry for each but the first."""


def opened_producers() -> ProducerStates:
    """Producer states without any producer."""
    return ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers())


def partition_in(
    logs: LogDirectory, leader_epoch: int = 0, configs: dict[str, str] | None = None
) -> Partition:
    """A replica that leads alone, with its log in this folder."""
    host = ReplicaHost(OWN, storage=LogDirectories([logs]))
    registration = PartitionRegistration((OWN,), (OWN,), OWN, LeaderEpoch(leader_epoch))
    producers = opened_producers()
    config, index = TopicConfig.of(configs or {}, {}), PartitionIndex(0)
    return Partition.empty(TOPIC, index, config, producers, host, registration, NOW, "t")


@contextmanager
def opened(folder: Path, *, clean: bool = False) -> Iterator[LogDirectory]:
    """Open a folder; at the end the process is killed, or ends in good order."""
    logs = LogDirectory(folder)
    try:
        yield logs
    finally:
        logs.close(broker_epoch=7 if clean else None)


def write(partition: Partition, count: int = 1, value: bytes = b"v") -> None:
    for _ in range(count):
        partition.append(encode_rows([(NOW, None, value)]), NOW)


def produce(partition: Partition, sequence: int) -> int:
    """Produce a batch of the producer 9 and return its offset."""
    batch = RecordBatch(
        records=[Record(b"v", None)],
        base_timestamp=NOW,
        producer_id=9,
        producer_epoch=0,
        base_sequence=sequence,
    )
    return partition.append(encode_batch(batch, "none"), NOW).base_offset


def all_of(partition: Partition) -> bytes:
    log = partition.log
    return b"".join(batch.data for batch in log.between(log.start_offset, log.end_offset))


def names(folder: Path, kind: str) -> list[str]:
    return sorted(path.name for path in (folder / "t-0").glob(f"*{kind}"))


@pytest.mark.parametrize("clean", [False, True])
def test_restart_restores_batches_offsets_and_epochs(tmp_path: Path, clean: bool) -> None:
    with opened(tmp_path, clean=clean) as logs:
        before = partition_in(logs, configs=SMALL)
        write(before, 30)
        written = all_of(before)
    assert len(names(tmp_path, ".log")) > 3
    with opened(tmp_path) as logs:
        assert logs.was_clean == clean
        after = partition_in(logs, leader_epoch=4, configs=SMALL)
        assert all_of(after) == written
        assert after.log.end_offset == 30
        assert [tuple(entry) for entry in after.epochs.entries] == [(0, 0), (4, 30)]
        for offset in range(30):
            (batch,) = after.log.between(Offset(offset), Offset(offset + 1))
            end = after.segment_end(Offset(offset))
            read = after.log.read(Offset(offset), 1, at_least_one=True, stop=end)
            assert (batch.base_offset, read) == (offset, batch.data)


def test_log_without_records_is_as_old_as_its_replica(tmp_path: Path) -> None:
    """Its segment has no file before the first batch."""
    with opened(tmp_path) as logs:
        assert partition_in(logs).segments.begins() == [(0, NOW)]


def test_recovery_truncates_partial_batch(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        write(partition_in(logs), 2)
    (log,) = (tmp_path / "t-0").glob("*.log")
    log.write_bytes(log.read_bytes()[:-1])
    with opened(tmp_path) as logs:
        after = partition_in(logs)
        assert after.log.end_offset == 1
        write(after)
    with opened(tmp_path) as logs:
        assert partition_in(logs).log.end_offset == 2


def test_recovery_removes_all_segments_after_corrupt_batch(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        write(partition_in(logs, configs=SMALL), 30)
    second = sorted((tmp_path / "t-0").glob("*.log"))[1]
    damaged = bytearray(second.read_bytes())
    damaged[-1] ^= 1
    second.write_bytes(damaged)
    base = int(second.stem)
    with opened(tmp_path) as logs:
        after = partition_in(logs, configs=SMALL)
        assert base <= after.log.end_offset < 30
        assert names(tmp_path, ".log")[-1] == second.name
        write(after)
        assert len(list(after.log.between(Offset(0), Offset(99)))) == after.log.end_offset


def test_start_after_clean_shutdown_does_not_check_batches(tmp_path: Path) -> None:
    """The start does not read the bytes, so it does not notice a change of them (LogLoader)."""
    with opened(tmp_path, clean=True) as logs:
        write(partition_in(logs), 3)
    (log,) = (tmp_path / "t-0").glob("*.log")
    damaged = bytearray(log.read_bytes())
    damaged[-1] ^= 1
    log.write_bytes(damaged)
    with opened(tmp_path) as logs:
        assert partition_in(logs).log.end_offset == 3


def test_missing_indexes_are_rebuilt(tmp_path: Path) -> None:
    with opened(tmp_path, clean=True) as logs:
        write(partition_in(logs, configs=SMALL), 30)
    folder = tmp_path / "t-0"
    before = {path.name: path.read_bytes() for path in folder.glob("*index")}
    for path in folder.glob("*index"):
        path.unlink()
    with opened(tmp_path, clean=True) as logs:
        assert partition_in(logs, configs=SMALL).log.end_offset == 30
    assert {path.name: path.read_bytes() for path in folder.glob("*index")} == before


def test_truncated_log_stays_truncated_after_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        before = partition_in(logs, configs=SMALL)
        write(before, 30)
        truncate(before, Offset(12))
        write(before)
        written = all_of(before)
    with opened(tmp_path) as logs:
        after = partition_in(logs, configs=SMALL)
        assert (all_of(after), after.log.end_offset) == (written, 13)


def test_restart_restores_log_start_offset_from_checkpoint(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        before = partition_in(logs)
        write(before, 3)
        assert before.delete_records(3) == 3
        write(before, 3)
        truncate(before, Offset(4))
        logs.checkpoint()
    with opened(tmp_path) as logs:
        after = partition_in(logs)
        assert (after.log.start_offset, after.log.end_offset) == (3, 4)


def test_deleted_segments_are_renamed_and_removed_after_delay(tmp_path: Path) -> None:
    configs = {**SMALL, "retention.bytes": "500", "file.delete.delay.ms": "100"}
    with opened(tmp_path) as logs:
        partition = partition_in(logs, configs=configs)
        write(partition, 30)
        deleted = delete_old_segments(partition, NOW)
        assert len(names(tmp_path, ".log.deleted")) == deleted > 0
        assert partition.log.start_offset == int(names(tmp_path, ".log")[0].removesuffix(".log"))
        logs.tidy(TimeMs(NOW + 99))
        assert names(tmp_path, ".log.deleted")
        logs.tidy(TimeMs(NOW + 100))
        assert not names(tmp_path, ".deleted")


def test_restarted_log_has_only_batches_from_new_start_offset(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        before = partition_in(logs, configs=SMALL)
        write(before, 30)
        restart_at(before, Offset(100), NOW)
        write(before)
    with opened(tmp_path) as logs:
        after = partition_in(logs, configs=SMALL)
        assert (after.log.start_offset, after.log.end_offset) == (100, 101)


def test_restored_high_watermark_is_limited_by_log_end_offset(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        before = partition_in(logs)
        write(before, 3)
        before.note_offsets()
        logs.checkpoint()
        truncate(before, Offset(1))
    with opened(tmp_path) as logs:
        host = ReplicaHost(BrokerId(1), storage=LogDirectories([logs]))
        follows = PartitionRegistration((OWN, BrokerId(2)), (BrokerId(2),), BrokerId(2))
        producers = ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers())
        config, index = TopicConfig.of({}, {}), PartitionIndex(0)
        after = Partition.empty(TOPIC, index, config, producers, host, follows, NOW, "t")
        assert (after.log.end_offset, after.high_watermark) == (1, 1)


@pytest.mark.parametrize("clean", [False, True])
def test_restart_restores_producer_states(tmp_path: Path, clean: bool) -> None:
    with opened(tmp_path, clean=clean) as logs:
        before = partition_in(logs, configs=SMALL)
        assert [produce(before, sequence) for sequence in range(30)] == list(range(30))
    with opened(tmp_path) as logs:
        after = partition_in(logs, configs=SMALL)
        assert produce(after, 29) == 29
        assert produce(after, 30) == 30


def test_compaction_keeps_producer_snapshots_of_remaining_segments(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        partition = partition_in(logs, configs=SMALL)
        for sequence in range(30):
            produce(partition, sequence)
        first, second, third = partition.segments.all()[:3]
        snapshots = names(tmp_path, ".snapshot")
        kept = partition.log.compaction()
        for segment in (first, second):
            kept.begin_segment([segment])
            for batch in partition.log.between(segment.base_offset, third.base_offset):
                if segment is second or batch.base_offset < second.base_offset:
                    kept.add(batch)
        assert kept.put_in_place(third.base_offset)
        assert names(tmp_path, ".snapshot") == snapshots
        merged = partition.log.compaction()
        merged.begin_segment(partition.segments.all()[:2])
        assert merged.put_in_place(third.base_offset)
        gone = f"{second.base_offset:020d}.snapshot"
        assert names(tmp_path, ".snapshot") == [name for name in snapshots if name != gone]


def test_reassignment_to_other_broker_deletes_log(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        write(partition)
        elsewhere = PartitionRegistration(
            (BrokerId(2),), (BrokerId(2),), BrokerId(2), LeaderEpoch(1)
        )
        partition.register(elsewhere, NOW)
        assert logs.kept() == []
        assert partition.log.end_offset == 0
        assert [path.name[:4] for path in tmp_path.glob("t-0*-delete")] == ["t-0."]


def test_data_folder_is_locked_to_one_node_and_cluster(tmp_path: Path) -> None:
    assert cluster_id_in(tmp_path) is None
    first = NodeFiles(tmp_path, "a", 1)
    with pytest.raises(FolderInUse, match="another node"):
        NodeFiles(tmp_path, "a", 1)
    first.close(broker_epoch=7)
    second = NodeFiles(tmp_path, "a", 1)
    assert (second.directory_ids, second.previous_epoch) == (first.directory_ids, 7)
    second.close()
    with pytest.raises(OSError, match="of the cluster a, not b"):
        NodeFiles(tmp_path, "b", 1)
    with pytest.raises(OSError, match="of the node 1, not 2"):
        NodeFiles(tmp_path, "a", 2)
    third = NodeFiles(tmp_path, "a", 1)
    assert (third.previous_epoch, cluster_id_in(tmp_path)) == (-1, "a")
    third.close()


def noted_epochs(folder: Path) -> list[tuple[int, int]]:
    path = folder / "t-0" / "leader-epoch-checkpoint"
    found = read_leader_epoch_checkpoint(path.read_bytes()) if path.exists() else []
    return [(entry.epoch, entry.start_offset) for entry in found]


def test_leader_epoch_is_checkpointed_with_its_first_batch(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        partition = partition_in(logs, leader_epoch=3)
        assert noted_epochs(tmp_path) == []
        write(partition, 2)
        assert noted_epochs(tmp_path) == [(3, 0)]
    with opened(tmp_path, clean=True) as logs:
        partition_in(logs, leader_epoch=5)
    assert noted_epochs(tmp_path) == [(3, 0)], "nothing was written in the other"
    with opened(tmp_path) as logs:
        partition = partition_in(logs, leader_epoch=7)
        write(partition)
        assert noted_epochs(tmp_path) == [(3, 0), (7, 2)]
        truncate(partition, Offset(1))
        partition.epochs.assign(LeaderEpoch(7), Offset(1))
        write(partition)
        assert noted_epochs(tmp_path) == [(3, 0), (7, 1)]


def test_missing_leader_epoch_checkpoint_is_rebuilt_from_batches(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        write(partition_in(logs, leader_epoch=3), 2)
    with opened(tmp_path) as logs:
        write(partition_in(logs, leader_epoch=7), 2)
    (tmp_path / "t-0" / "leader-epoch-checkpoint").unlink()
    with opened(tmp_path) as logs:
        partition = partition_in(logs, leader_epoch=9)
        assert [tuple(one) for one in partition.epochs.entries] == [(3, 0), (7, 2), (9, 4)]
        assert noted_epochs(tmp_path) == [(3, 0), (7, 2)]

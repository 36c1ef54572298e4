"""Logs in files: what was written is there again, a torn end is not."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from harness.codec.records import encode_rows
from harness.ids import BrokerId, LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.reference_broker.state.following import restart_at, truncate
from harness.reference_broker.state.partition import Partition
from harness.reference_broker.state.partition_registration import PartitionRegistration
from harness.reference_broker.state.producer_states import (
    ProducerExpiration,
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.state.replica_host import ReplicaHost
from harness.reference_broker.state.topic_configs import TopicConfig
from harness.reference_broker.storage.log_files import LogFiles
from harness.reference_broker.storage.node_files import FolderInUse, NodeFiles

TOPIC, OWN, NOW = UUID(int=5), BrokerId(1), TimeMs(1_000)


def partition_in(folder: Path, leader_epoch: int = 0) -> Partition:
    """A replica that leads alone, its log in this folder."""
    host = ReplicaHost(OWN, storage=LogFiles(folder))
    registration = PartitionRegistration((OWN,), (OWN,), OWN, LeaderEpoch(leader_epoch))
    producers = ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers())
    config, index = TopicConfig.of({}, {}), PartitionIndex(0)
    return Partition.empty(TOPIC, index, config, producers, host, registration, NOW)


def write(partition: Partition, count: int = 1) -> None:
    for _ in range(count):
        partition.append(encode_rows([(NOW, None, b"v")]), NOW)


def all_of(partition: Partition) -> bytes:
    log = partition.log
    return log.read(log.start_offset, 1 << 20, at_least_one=True)


def test_what_was_written_is_there_again(tmp_path: Path) -> None:
    before = partition_in(tmp_path)
    write(before, 3)
    after = partition_in(tmp_path, leader_epoch=4)
    assert all_of(after) == all_of(before)
    assert after.log.end_offset == 3
    assert [tuple(entry) for entry in after.epochs.entries] == [(0, 0), (4, 3)]


def test_a_batch_that_was_written_in_part_is_cut_off(tmp_path: Path) -> None:
    write(partition_in(tmp_path), 2)
    (batches,) = tmp_path.glob("*/batches.log")
    whole = batches.read_bytes()
    batches.write_bytes(whole[:-1])
    after = partition_in(tmp_path)
    assert after.log.end_offset == 1
    write(after)
    assert partition_in(tmp_path).log.end_offset == 2


def test_a_truncated_log_stays_truncated(tmp_path: Path) -> None:
    before = partition_in(tmp_path)
    write(before, 5)
    truncate(before, Offset(2))
    write(before)
    assert all_of(partition_in(tmp_path)) == all_of(before)


def test_a_log_that_lost_its_beginning_is_truncated_in_the_right_place(tmp_path: Path) -> None:
    before = partition_in(tmp_path)
    write(before, 3)
    assert before.delete_records(3) == 3
    write(before, 3)
    truncate(before, Offset(4))
    after = partition_in(tmp_path)
    assert (after.log.start_offset, after.log.end_offset) == (3, 4)
    assert all_of(after) == all_of(before)


def test_a_log_that_begins_anew_has_nothing_of_before(tmp_path: Path) -> None:
    before = partition_in(tmp_path)
    write(before, 3)
    restart_at(before, Offset(10), NOW)
    write(before)
    after = partition_in(tmp_path)
    assert (after.log.start_offset, after.log.end_offset) == (10, 11)


def test_a_high_watermark_is_remembered_and_never_ahead(tmp_path: Path) -> None:
    before = partition_in(tmp_path)
    write(before, 3)
    before.note_offsets()
    truncate(before, Offset(1))
    host = ReplicaHost(BrokerId(1), storage=LogFiles(tmp_path))
    follows = PartitionRegistration((OWN, BrokerId(2)), (BrokerId(2),), BrokerId(2))
    producers = ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers())
    after = Partition.empty(
        TOPIC, PartitionIndex(0), TopicConfig.of({}, {}), producers, host, follows, NOW
    )
    assert (after.log.end_offset, after.high_watermark) == (1, 1)


def test_a_replica_that_moves_away_leaves_no_file(tmp_path: Path) -> None:
    partition = partition_in(tmp_path)
    write(partition)
    elsewhere = PartitionRegistration((BrokerId(2),), (BrokerId(2),), BrokerId(2), LeaderEpoch(1))
    partition.register(elsewhere, NOW)
    assert LogFiles(tmp_path).kept() == []
    assert partition.log.end_offset == 0


def test_a_folder_belongs_to_one_node_and_one_cluster(tmp_path: Path) -> None:
    first = NodeFiles(tmp_path, "a")
    with pytest.raises(FolderInUse, match="another node"):
        NodeFiles(tmp_path, "a")
    first.note_clean_end(7)
    first.close()
    second = NodeFiles(tmp_path, "a")
    assert (second.directory_id, second.previous_epoch) == (first.directory_id, 7)
    second.close()
    with pytest.raises(OSError, match="of the cluster a, not b"):
        NodeFiles(tmp_path, "b")
    third = NodeFiles(tmp_path, "a")
    assert third.previous_epoch == -1
    third.close()

"""A snapshot of the metadata log has the state of the whole log, with no needless record."""

from pathlib import Path
from uuid import UUID

import pytest

from harness.base.ids import BrokerId, LeaderEpoch, Offset
from harness.codec import messages
from harness.codec.records import encode_rows
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import RecordBatch
from harness.codec.records.control_batch import control_records
from harness.codec.structs import Message
from harness.reference_broker.cluster.metadata_keeping import KeepingLimits, MetadataKeeping
from harness.reference_broker.state.log.log_store import SnapshotId, UnreadableLog
from harness.reference_broker.state.metadata.metadata_batches import (
    MetadataReading,
    control_batch,
    snapshot_batches,
)
from harness.reference_broker.state.metadata.metadata_fold import MetadataFold
from harness.reference_broker.state.metadata.metadata_log import MetadataLog
from harness.reference_broker.state.registrations.metadata_records import (
    quota_records,
    topic_records,
)
from harness.reference_broker.storage.metadata_snapshots import MetadataSnapshots
from tests.reference_broker.made_controller import NOW, TOPIC_ID, MadeController, registered

OTHER_ID, DIRECTORY = UUID(int=900), UUID(int=901)
OF = registered([1, 2], [1, 2], elr=(), last_known_elr=())
USER = frozenset({("user", "u")})
BROKER = messages.RegisterBrokerRecord(broker_id=3, broker_epoch=30, fenced=True)
ACL = messages.AccessControlEntryRecord(id=UUID(int=5), resource_name="r", principal="p", host="*")
CHANGE = messages.BrokerRegistrationChangeRecord
PARTITION = messages.PartitionChangeRecord


def folded(*records: Message) -> list[Message]:
    fold = MetadataFold()
    fold.take(records)
    assert fold.is_whole
    return fold.records()


TOPIC = topic_records("t", TOPIC_ID, {"retention.ms": "5"}, [OF])
TAKEN_BACK: dict[str, list[Message]] = {
    "topic": [*TOPIC, messages.RemoveTopicRecord(topic_id=TOPIC_ID)],
    "config": [
        messages.ConfigRecord(resource_type=4, resource_name="", name="a", value="1"),
        messages.ConfigRecord(resource_type=4, resource_name="", name="a", value=None),
    ],
    "quota": [
        *quota_records(USER, {"producer_byte_rate": 5.0}),
        *quota_records(USER, {"producer_byte_rate": None}),
    ],
    "feature": [
        messages.FeatureLevelRecord(name="f", feature_level=2),
        messages.FeatureLevelRecord(name="f", feature_level=0),
    ],
    "broker": [BROKER, messages.UnregisterBrokerRecord(broker_id=3, broker_epoch=30)],
    "acl": [ACL, messages.RemoveAccessControlEntryRecord(id=UUID(int=5))],
    "nothing": [messages.NoOpRecord()],
}


@pytest.mark.parametrize("what", TAKEN_BACK)
def test_fold_omits_reverted_records(what: str) -> None:
    other = topic_records("other", OTHER_ID, {"retention.ms": "7"}, [OF])
    assert folded(*other, *TAKEN_BACK[what]) == folded(*other)


def test_fold_merges_partition_changes() -> None:
    change = PARTITION(topic_id=TOPIC_ID, partition_id=0, isr=[2], leader=2, last_known_elr=[1])
    *_, partition = folded(*TOPIC[:1], *TOPIC[2:], change)
    assert isinstance(partition, messages.PartitionRecord)
    assert (partition.isr, partition.leader, partition.leader_epoch) == (
        [2],
        2,
        OF.leader_epoch + 1,
    )
    assert partition.last_known_elr == [1]
    *_, partition = folded(*TOPIC[:1], *TOPIC[2:], change, messages.ClearElrRecord(topic_name=""))
    assert isinstance(partition, messages.PartitionRecord)
    assert (partition.leader, partition.last_known_elr) == (2, None)


def test_fold_merges_registration_changes_of_broker() -> None:
    (broker,) = folded(
        BROKER,
        CHANGE(broker_id=3, broker_epoch=30, fenced=-1),
        CHANGE(broker_id=3, broker_epoch=30, in_controlled_shutdown=1, log_dirs=[DIRECTORY]),
        CHANGE(broker_id=3, broker_epoch=29, fenced=1),
    )
    assert isinstance(broker, messages.RegisterBrokerRecord)
    assert (broker.fenced, broker.in_controlled_shutdown) == (False, True)
    assert broker.log_dirs == [DIRECTORY]
    assert BROKER.fenced, "what is in the log stays as it is"


def test_fold_of_unsupported_record_is_not_whole() -> None:
    fold = MetadataFold()
    fold.take([messages.AccessControlRecord()])  # up to 3.4
    assert not fold.is_whole


def test_snapshot_is_read_back_with_header_and_footer() -> None:
    data = snapshot_batches([*TOPIC, ACL], LeaderEpoch(7), NOW)
    batches = read_records(data, limit_bytes=1 << 20).batches
    said = [one.name for batch in batches for one in control_records(batch)]
    assert said == ["SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"]
    assert [batch.base_offset for batch in batches] == [0, 1, len(TOPIC) + 2]
    assert {batch.partition_leader_epoch for batch in batches} == {7}
    reading = MetadataReading()
    assert [one for _, some in reading.records(data) for one in some] == [*TOPIC, ACL]
    assert reading.is_whole


def test_voters_record_prevents_snapshots() -> None:
    reading = MetadataReading()
    voters = control_batch(messages.VotersRecord(), Offset(0), LeaderEpoch(1), NOW)
    assert [*reading.records(voters)] == [(1, [])]
    assert not reading.is_whole


def test_record_of_unknown_type_prevents_snapshots() -> None:
    """A newer release may have written it; a snapshot without it would lose it."""
    frame_version, api_key, version = b"\x01", b"\xe7\x07", b"\x00"  # 999
    reading = MetadataReading()
    unknown = encode_rows([(NOW, None, frame_version + api_key + version)], RecordBatch())
    assert [*reading.records(unknown)] == [(1, [])]
    assert not reading.is_whole


# -- beside the log --------------------------------------------------------------------------------


def kept(folder: Path, most_bytes: int) -> tuple[MadeController, MetadataKeeping]:
    made = MadeController([])
    keeping = MetadataKeeping(made.role.log, folder, KeepingLimits(most_bytes))
    made.state.write_metadata = keeping.append
    return made, keeping


def test_snapshot_is_written_after_byte_limit_and_old_ones_are_removed(tmp_path: Path) -> None:
    made, keeping = kept(tmp_path, 1_000)
    keeping.lead(BrokerId(1), NOW)
    taken = []
    for number in range(40):
        made.carry_out(quota_records(USER, {"producer_byte_rate": float(number + 1)}))
        taken.append(len(MetadataSnapshots(tmp_path).ids()))
    assert taken[5] == 0
    assert taken[-1] == 2, "older ones are removed"
    newest = MetadataSnapshots(tmp_path).ids()[-1]
    data = MetadataSnapshots(tmp_path).read(newest)
    ((_, told),) = [row for row in MetadataReading().records(data) if row[1]]
    assert told == quota_records(USER, {"producer_byte_rate": float(newest.end_offset - 1)})


def test_newest_snapshot_is_read_before_log(tmp_path: Path) -> None:
    """Even if the log ends below it: the log continues behind the snapshot then."""
    snapshot = SnapshotId(Offset(50), LeaderEpoch(4))
    MetadataSnapshots(tmp_path).write(snapshot, snapshot_batches(TOPIC, LeaderEpoch(4), NOW))
    made, keeping = kept(tmp_path, 1_000)
    assert [one for _, records in keeping.records(NOW) for one in records] == TOPIC
    assert made.role.log.end_offset == 50
    keeping.lead(BrokerId(1), NOW)
    assert made.role.log.last_epoch == 5
    assert made.role.log.end_offset == 51


def test_formatted_folder_begins_with_records_of_bootstrap_checkpoint(tmp_path: Path) -> None:
    level = messages.FeatureLevelRecord(name="metadata.version", feature_level=20)
    data = snapshot_batches([level], LeaderEpoch(0), NOW)
    metadata = tmp_path / "__cluster_metadata-0"
    metadata.mkdir()
    _, keeping = kept(metadata, 1_000)
    assert keeping.begin() == []
    (tmp_path / "bootstrap.checkpoint").write_bytes(data)  # up to 3.9
    assert keeping.begin() == [level]
    (tmp_path / "bootstrap.checkpoint").unlink()
    MetadataSnapshots(metadata).write(SnapshotId(Offset(0), LeaderEpoch(0)), data)
    assert keeping.begin() == [level]
    assert [*keeping.records(NOW)] == [], "it is written into the log first"


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty"])
def test_damaged_snapshot_raises_unreadable_log(damage: str, tmp_path: Path) -> None:
    data = bytearray(snapshot_batches(TOPIC, LeaderEpoch(4), NOW))
    if damage == "flipped":
        data[200] ^= 1
    else:
        del data[len(data) - 1 if damage == "cut" else 0 :]
    MetadataSnapshots(tmp_path).write(SnapshotId(Offset(50), LeaderEpoch(4)), bytes(data))
    _, keeping = kept(tmp_path, 1_000)
    name = r"00000000000000000050-0000000004\.checkpoint: .*damaged.*; no other file holds"
    with pytest.raises(UnreadableLog, match=name):
        list(keeping.records(NOW))


def test_log_restores_all_records_after_removal_of_damaged_snapshot(tmp_path: Path) -> None:
    made, keeping = kept(tmp_path, 1_000)
    keeping.lead(BrokerId(1), NOW)
    for number in range(20):
        made.carry_out(quota_records(USER, {"producer_byte_rate": float(number + 1)}))
    told = [one for _, records in made.role.log.records() for one in records]
    newest = MetadataSnapshots(tmp_path).path(MetadataSnapshots(tmp_path).ids()[-1])
    newest.write_bytes(b"damaged" * 20)
    with pytest.raises(UnreadableLog, match="hold the same records: move this file"):
        list(keeping.records(NOW))
    newest.unlink()
    while (ids := MetadataSnapshots(tmp_path).ids()) and ids[0].end_offset > 0:
        MetadataSnapshots(tmp_path).path(ids[0]).unlink()
    assert [one for _, records in keeping.records(NOW) for one in records] == told


def test_log_without_its_beginning_raises_unreadable_log(tmp_path: Path) -> None:
    made, keeping = kept(tmp_path, 1_000)
    keeping.lead(BrokerId(1), NOW)
    for number in range(20):
        made.carry_out(quota_records(USER, {"producer_byte_rate": float(number + 1)}))
    older, newest = MetadataSnapshots(tmp_path).ids()
    made.role.log.delete_below(newest.end_offset, NOW)
    MetadataSnapshots(tmp_path).path(newest).write_bytes(b"")
    with pytest.raises(UnreadableLog, match="no other file holds"):
        list(keeping.records(NOW))
    MetadataSnapshots(tmp_path).path(newest).unlink()
    with pytest.raises(UnreadableLog, match=rf"begins at {newest.end_offset}, and no snapshot"):
        list(keeping.records(NOW))
    assert older.end_offset < newest.end_offset


def test_in_memory_log_takes_no_snapshot() -> None:
    made = MadeController([])
    keeping = MetadataKeeping(made.role.log, None, KeepingLimits(1))
    keeping.lead(BrokerId(1), NOW)
    keeping.append(TOPIC, NOW)
    assert isinstance(made.role.log, MetadataLog)
    assert made.role.log.end_offset == 1 + len(TOPIC)

"""A Fetch of the metadata log from below its start gets a snapshot, piece by piece (KIP-630)."""

from pathlib import Path
from typing import Any

import pytest

from harness.base.ids import BrokerId, LeaderEpoch, Offset
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchSnapshotRequest
from harness.reference_broker.handlers import api_01_fetch, api_59_fetch_snapshot
from harness.reference_broker.handlers.outcome import Advertised, Answer, RequestContext
from harness.reference_broker.state.log.log_store import SnapshotId
from harness.reference_broker.state.metadata.metadata_log import METADATA_TOPIC_ID
from harness.reference_broker.state.registrations.metadata_records import quota_records
from harness.reference_broker.storage.metadata_snapshots import MetadataSnapshots
from tests.reference_broker.made_controller import CHANCE, CLUSTER_ID, NOW, MadeController

ID = SnapshotId(Offset(5), LeaderEpoch(3))
DATA = bytes(range(100))
ASKED = FetchSnapshotRequest.PartitionSnapshot


@pytest.fixture
def made(tmp_path: Path) -> MadeController:
    """A controller with ten records and a log that starts behind five of them."""
    made = MadeController([])
    made.role.log.begin_epoch(LeaderEpoch(3), BrokerId(1), NOW)
    for number in range(9):
        made.carry_out(quota_records(frozenset({("user", "u")}), {"producer_byte_rate": number}))
    made.role.log.delete_below(ID.end_offset, NOW)
    snapshots = MetadataSnapshots(tmp_path)
    snapshots.write(ID, DATA)
    made.role.snapshots = snapshots
    return made


def context(made: MadeController, version: int) -> RequestContext:
    return RequestContext(
        version, None, 0, made.state, Advertised(()), lambda: NOW, CHANCE, [], role=made.role
    )


def fetched(made: MadeController, offset: int) -> Any:
    partition = FetchRequest.FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, current_leader_epoch=-1
    )
    topic = FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    request = FetchRequest(max_wait_ms=0, max_bytes=1 << 20, topics=[topic], session_epoch=-1)
    answer = api_01_fetch.handle(request, context(made, 17))
    assert isinstance(answer, Answer)
    return answer.message.responses[0].partitions[0]  # type: ignore[attr-defined]


def piece(made: MadeController, topic: str = "__cluster_metadata", **asked: Any) -> Any:
    given: dict[str, Any] = {
        "snapshot_id": FetchSnapshotRequest.SnapshotId(end_offset=ID.end_offset, epoch=ID.epoch),
        "position": 0,
        **asked,
    }
    wanted = FetchSnapshotRequest.TopicSnapshot(name=topic, partitions=[ASKED(**given)])
    request = FetchSnapshotRequest(cluster_id=CLUSTER_ID, max_bytes=60, topics=[wanted])
    answer = api_59_fetch_snapshot.handle(request, context(made, 1)).message
    return answer.topics[0].partitions[0]  # type: ignore[attr-defined]


def test_fetch_below_log_start_offset_returns_snapshot_id(made: MadeController) -> None:
    part = fetched(made, 4)
    assert (part.error_code, part.records) == (ErrorCode.NONE, b"")
    assert (part.snapshot_id.end_offset, part.snapshot_id.epoch) == ID
    assert (part.log_start_offset, part.high_watermark) == (5, 10)


def test_fetch_at_log_start_offset_returns_records_without_snapshot_id(
    made: MadeController,
) -> None:
    part = fetched(made, 5)
    assert part.snapshot_id.end_offset == -1
    assert part.records


def test_fetch_below_log_start_without_snapshot_returns_offset_out_of_range(
    made: MadeController,
) -> None:
    made.role.snapshots = None
    assert fetched(made, 4).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_fetch_snapshot_returns_snapshot_in_pieces(made: MadeController) -> None:
    first, last = piece(made), piece(made, position=60)
    assert first.unaligned_records + last.unaligned_records == DATA
    assert (first.size, first.position, last.position) == (100, 0, 60)


def no_such(end_offset: int = 5, epoch: int = 3) -> Any:
    return FetchSnapshotRequest.SnapshotId(end_offset=end_offset, epoch=epoch)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"topic": "another"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"partition": 1}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"snapshot_id": no_such(end_offset=6)}, ErrorCode.SNAPSHOT_NOT_FOUND),
        ({"snapshot_id": no_such(epoch=2)}, ErrorCode.SNAPSHOT_NOT_FOUND),
        ({"position": 100}, ErrorCode.POSITION_OUT_OF_RANGE),
        ({"position": -1}, ErrorCode.POSITION_OUT_OF_RANGE),
    ],
)
def test_fetch_snapshot_of_unknown_partition_id_or_position_returns_error(
    made: MadeController, asked: dict[str, Any], error: ErrorCode
) -> None:
    found = piece(made, **asked)
    assert (found.error_code, found.unaligned_records) == (error, b"")


def test_fetch_snapshot_with_other_cluster_id_is_refused(made: MadeController) -> None:
    request = FetchSnapshotRequest(cluster_id="another", topics=[])
    answer = api_59_fetch_snapshot.handle(request, context(made, 1)).message
    assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID  # type: ignore[attr-defined]

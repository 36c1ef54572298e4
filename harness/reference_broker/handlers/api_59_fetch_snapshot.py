"""FetchSnapshot: API key 59, versions 0 to 1; only on the controller's listener.

Behaviour
- A reader that begins below the start of the metadata log gets a snapshot id instead of records
  (Fetch), and reads the snapshot in pieces, which may end anywhere (KIP-630).
- A snapshot that no longer exists is SNAPSHOT_NOT_FOUND: the reader fetches again. A position
  outside of it is POSITION_OUT_OF_RANGE.

Version notes
- v1   the directory of a voter (KIP-853); it makes no difference, as there are no other voters

Not done
- The reader's epoch is not compared: there is one leader only.
"""

from harness.base.ids import LeaderEpoch, Offset
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchSnapshotRequest, FetchSnapshotResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.log.log_store import SnapshotId, Snapshots
from harness.reference_broker.state.topics.topic_names import CLUSTER_METADATA_TOPIC

API_KEY = 59
_Response = FetchSnapshotResponse
_Asked = FetchSnapshotRequest.PartitionSnapshot


def handle(request: FetchSnapshotRequest, context: RequestContext) -> Answer:
    """Return the next piece of each snapshot."""
    role = context.role
    assert role is not None
    if request.cluster_id not in (None, role.cluster_id):
        return Answer(_Response(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID))
    topics = [
        _Response.TopicSnapshot(
            name=topic.name,
            partitions=[
                _piece(topic.name, one, role.snapshots, request.max_bytes)
                for one in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return Answer(_Response(topics=topics))


def _piece(
    topic: str, asked: _Asked, snapshots: Snapshots | None, max_bytes: int
) -> FetchSnapshotResponse.PartitionSnapshot:
    answer = _Response.PartitionSnapshot(index=asked.partition, unaligned_records=b"")
    wanted = SnapshotId(Offset(asked.snapshot_id.end_offset), LeaderEpoch(asked.snapshot_id.epoch))
    answer.snapshot_id = _Response.SnapshotId(end_offset=wanted.end_offset, epoch=wanted.epoch)
    if (topic, asked.partition) != (CLUSTER_METADATA_TOPIC, 0):
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif snapshots is None or wanted not in snapshots.ids():
        answer.error_code = ErrorCode.SNAPSHOT_NOT_FOUND
    else:
        data, at = snapshots.read(wanted), asked.position
        answer.size, answer.position = len(data), at
        if 0 <= at < len(data):
            answer.unaligned_records = data[at : at + max(max_bytes, 0)]
        else:
            answer.error_code = ErrorCode.POSITION_OUT_OF_RANGE
    return answer

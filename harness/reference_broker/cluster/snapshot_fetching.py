"""A snapshot of the metadata log, read from the controller piece by piece. Source: KIP-630."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, FetchSnapshotRequest
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.state.topics.topic_names import CLUSTER_METADATA_TOPIC

_VERSION = 1
_PIECE_BYTES = 8 * 1024 * 1024
_Asked = FetchSnapshotRequest


async def fetch_snapshot(
    controller: Peer, member: NodeMembership, wanted: FetchResponse.SnapshotId
) -> bytes:
    """All of it. Raises PeerGone: also where it went meanwhile."""
    data = b""
    while True:
        partition = _Asked.PartitionSnapshot(
            current_leader_epoch=-1,
            snapshot_id=_Asked.SnapshotId(end_offset=wanted.end_offset, epoch=wanted.epoch),
            position=len(data),
        )
        topic = _Asked.TopicSnapshot(name=CLUSTER_METADATA_TOPIC, partitions=[partition])
        request = _Asked(
            cluster_id=member.cluster_id,
            replica_id=member.broker_id,
            max_bytes=_PIECE_BYTES,
            topics=[topic],
        )
        answer = await controller.ask(request, _VERSION)
        if answer.error_code != ErrorCode.NONE:
            raise PeerGone(f"no snapshot: {ErrorCode(answer.error_code).name}")
        piece = answer.topics[0].partitions[0]
        if piece.error_code != ErrorCode.NONE or not piece.unaligned_records:
            raise PeerGone(f"no snapshot: {ErrorCode(piece.error_code).name}")
        data += piece.unaligned_records
        if len(data) >= piece.size:
            return data

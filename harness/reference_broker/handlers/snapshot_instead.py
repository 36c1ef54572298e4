"""The snapshot id for a reader that begins below the start of the metadata log (KIP-630)."""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.fetch.fetch_reading import PartitionReading


def set_snapshot_id(
    part: FetchResponse.PartitionData, reading: PartitionReading, context: RequestContext
) -> None:
    """Replace the error by the newest snapshot id.

    Source: KafkaRaftClient (validateOffsetAndEpoch).
    """
    log, role = context.state.cluster.unlisted, context.role
    if log is None or role is None or reading.key[0] not in (log.name, log.topic_id):
        return
    found = [] if role.snapshots is None else role.snapshots.ids()
    if reading.error is ErrorCode.OFFSET_OUT_OF_RANGE and found:
        newest, own = found[-1], log.partitions[0]
        part.error_code = ErrorCode.NONE
        part.high_watermark = own.high_watermark
        part.log_start_offset = own.log.start_offset
        part.snapshot_id = FetchResponse.SnapshotId(
            end_offset=newest.end_offset, epoch=newest.epoch
        )

"""Defects of area TXN: decisions and markers that count before the replicas in sync have them."""

from __future__ import annotations

import struct

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnResponse,
    FetchRequest,
    FetchResponse,
    WriteTxnMarkersResponse,
)
from harness.codec.records import (
    CONTROL,
    TRANSACTIONAL,
    Record,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from labs.defects.defect import joined_alone
from labs.defects.edited_answer import answers
from labs.defects.one_client import of_client

IN_VAIN = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
_COMMIT_KEY, _VALUE = struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 0)


@answers(
    "TXN-067",
    r"\(high watermark, last stable offset\) is \(1, 1\)",
    asked=of_client("TXN-067"),
)
def a_written_marker_is_enough(answer: FetchResponse) -> None:
    """The last stable offset passes a transaction when the leader has its marker."""
    for topic in answer.responses:
        for one in topic.partitions:
            one.last_stable_offset = one.high_watermark


@answers(
    "TXN-068",
    r"the follower lacks the decision, and the markers are \[\(1, True\)\]",
    asked=of_client("TXN-068"),
)
def a_written_decision_is_enough(request: FetchRequest, answer: FetchResponse) -> None:
    """The coordinator sends markers when its own log has the decision."""
    if request.topics[0].partitions[0].fetch_offset != 0:
        return
    for topic in answer.responses:
        for one in topic.partitions:
            batches = decode_batches(bytes(one.records or b""))
            if len(batches) == 1:
                one.records = bytes(one.records or b"") + _marker_behind(batches[0])


def _marker_behind(batch: RecordBatch) -> bytes:
    return encode_batch(
        RecordBatch(
            [Record(_VALUE, _COMMIT_KEY)],
            base_offset=batch.base_offset + 1,
            attributes=CONTROL | TRANSACTIONAL,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
        )
    )


@answers(
    "TXN-070",
    r"a marker, and one replica is in sync: error is NONE",
    asked=of_client("TXN-070"),
)
def a_marker_needs_no_followers(answer: WriteTxnMarkersResponse) -> None:
    """The broker writes markers whatever min.insync.replicas is."""
    for marker in answer.markers:
        for topic in marker.topics:
            for one in topic.partitions:
                if one.error_code == ErrorCode.NOT_ENOUGH_REPLICAS:
                    one.error_code = ErrorCode.NONE


@answers("TXN-077", r"AddOffsetsToTxn v\d, .*: error is NONE", asked=of_client("TXN-077"))
def added_offsets_need_no_replicas(answer: AddOffsetsToTxnResponse) -> None:
    """AddOffsetsToTxn succeeds when the coordinator has tried to write the state."""
    if answer.error_code in IN_VAIN:
        answer.error_code = ErrorCode.NONE


@answers("TXN-077", r"AddPartitionsToTxn v\d, .*: error is NONE", asked=of_client("TXN-077"))
def added_partitions_need_no_replicas(answer: AddPartitionsToTxnResponse) -> None:
    """AddPartitionsToTxn succeeds when the coordinator has tried to write the state."""
    for topic in answer.results_by_topic_v3_and_below:
        for one in topic.results_by_partition:
            if one.partition_error_code in IN_VAIN:
                one.partition_error_code = ErrorCode.NONE


@answers("TXN-077", r"the answer has \[\], expected", range(4, 99), asked=of_client("TXN-077"))
def transactions_share_an_error(answer: AddPartitionsToTxnResponse) -> None:
    """AddPartitionsToTxn of several transactions has one error for all of them."""
    told = [
        one.partition_error_code
        for transaction in answer.results_by_transaction
        for topic in transaction.topic_results
        for one in topic.results_by_partition
    ]
    if IN_VAIN.intersection(told):
        answer.error_code, answer.results_by_transaction = told[0], []


DEFECTS = [
    joined_alone(added_offsets_need_no_replicas),
    joined_alone(added_partitions_need_no_replicas),
    joined_alone(transactions_share_an_error),
    joined_alone(a_marker_needs_no_followers),
    joined_alone(a_written_marker_is_enough),
    joined_alone(a_written_decision_is_enough),
]

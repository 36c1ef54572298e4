"""Defects of area TXN: of several in one request only the first counts."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeTransactionsResponse,
    EndTxnRequest,
    FetchResponse,
    ListOffsetsResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    TxnOffsetCommitRequest,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from, of_client
from labs.defects.txn_offsets import fetched_offsets

THREE = 3  # partitions or ids of one request
STABLE_OFFSET, HIGH_WATERMARK = 1, 2  # of partition 1 of LISTO-007


@answers("TXN-025", r"partitions \(.*\): the aborted transactions are", asked=of_client("TXN-025"))
def the_first_partition_lists_aborted_transactions(answer: FetchResponse) -> None:
    """Of several partitions, Fetch lists aborted transactions of the first."""
    partitions = [one for topic in answer.responses for one in topic.partitions]
    for one in partitions[1:] if len(partitions) == THREE else ():
        one.aborted_transactions = []


@answers("LISTO-007", r"partitions \(.*\): the \(error, offset\)", asked=of_client("LISTO-007"))
def the_first_partition_has_an_isolation_level(answer: ListOffsetsResponse) -> None:
    """Of several partitions, ListOffsets reads the first with read_committed."""
    partitions = [one for topic in answer.topics for one in topic.partitions]
    for one in partitions[1:] if len(partitions) == THREE else ():
        if (one.partition_index, one.offset) == (1, STABLE_OFFSET):
            one.offset = HIGH_WATERMARK


@answers("TXN-036", r"described are ", asked=of_client("TXN-036"))
def the_first_id_has_partitions(answer: DescribeTransactionsResponse) -> None:
    """Of several transactional ids, DescribeTransactions returns the partitions of the first."""
    for one in answer.transaction_states[1:] if len(answer.transaction_states) == THREE else ():
        one.topics = []


class AnAbortEndsOneGroup(FrameRule):
    """An abort drops the pending offsets of one group; those of the others stay pending."""

    def __init__(self) -> None:
        self._groups: list[str] = []
        self._left: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if is_from(seen, "TXN-031"):
            if isinstance(request, TxnOffsetCommitRequest):
                self._groups.append(request.group_id)
            if isinstance(request, EndTxnRequest) and not request.committed:
                self._left.update(self._groups[1:])
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, OffsetFetchRequest) or not seen.message.require_stable:
            return [payload]
        return [edited(seen, payload, self._edit)]

    def _edit(self, seen: SeenRequest, answer: OffsetFetchResponse) -> None:
        assert isinstance(seen.message, OffsetFetchRequest)
        asked = {group.group_id for group in seen.message.groups} or {seen.message.group_id}
        for one in fetched_offsets(answer) if asked <= self._left else ():
            if one.partition_index == 0:
                one.error_code, one.committed_offset = ErrorCode.UNSTABLE_OFFSET_COMMIT, -1


DEFECTS = [
    the_first_partition_lists_aborted_transactions,
    the_first_partition_has_an_isolation_level,
    the_first_id_has_partitions,
    rule("TXN-031", r"aborted: the \(error, stable offset\)", AnAbortEndsOneGroup),
]

"""Defects of area TXN: offsets in a transaction."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    EndTxnRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.client_requests import takes_from_client
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.one_client import is_from, of_client

FENCED = (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH)
UNSTABLE, COMMITTED = ErrorCode.UNSTABLE_OFFSET_COMMIT, 5
PARTITIONS_OF_STABLE_READ = [0, 1, 2]
Fetched = (
    OffsetFetchResponse.OffsetFetchResponsePartition
    | OffsetFetchResponse.OffsetFetchResponsePartitions
)


def fetched_offsets(answer: OffsetFetchResponse) -> list[Fetched]:
    """All partitions, in either form of the answer."""
    found: list[Fetched] = [one for topic in answer.topics for one in topic.partitions]
    for group in answer.groups:
        found += [one for topic in group.topics for one in topic.partitions]
    return found


def _groups(request: OffsetFetchRequest) -> list[str]:
    return [group.group_id for group in request.groups] or [request.group_id]


class PendingOffsetsAreVisible(FrameRule):
    """The broker returns offsets of an open transaction as committed ones."""

    def __init__(self) -> None:
        self._pending: dict[str, dict[int, int]] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, TxnOffsetCommitRequest) and is_from(seen, "TXN-029"):
            self._pending[request.group_id] = {
                one.partition_index: one.committed_offset
                for topic in request.topics
                for one in topic.partitions
            }
        if isinstance(request, EndTxnRequest) and is_from(seen, "TXN-029"):
            self._pending.clear()
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, OffsetFetchRequest):
            return [payload]
        return [edited(seen, payload, self._edit)]

    def _edit(self, seen: SeenRequest, answer: OffsetFetchResponse) -> None:
        assert isinstance(seen.message, OffsetFetchRequest)
        for group in _groups(seen.message):
            pending = self._pending.get(group, {})
            for one in fetched_offsets(answer):
                one.committed_offset = pending.get(one.partition_index, one.committed_offset)


@takes_from_client("TXN-029", r"after the (commit|abort), partition 0: \(offset, metadata\) is")
def the_end_decides_otherwise(request: EndTxnRequest) -> None:
    """The broker stores the offsets of aborted transactions and drops those of committed ones."""
    request.committed = not request.committed


@takes_from_client("TXN-030", r"the first group, partition 0: ")
def a_transaction_without_records_is_empty(request: EndTxnRequest) -> None:
    """The broker drops the offsets of a transaction without records."""
    request.committed = False


@answers(
    "TXN-031",
    r"require_stable True(, group \d of \d)?: (the \(error, offset\)|error is NONE)|open: the",
)
def unstable_offsets_are_returned(answer: OffsetFetchResponse) -> None:
    """The broker ignores require_stable."""
    for one in fetched_offsets(answer):
        if one.error_code == UNSTABLE:
            one.error_code, one.committed_offset = ErrorCode.NONE, COMMITTED


@answers("TXN-031", r"require_stable True, group 2 of 2: the \(error, offset\)", range(8, 99))
def stable_offsets_are_for_the_first_group(answer: OffsetFetchResponse) -> None:
    """Of several groups, require_stable counts for the first."""
    for group in answer.groups[1:]:
        for one in (part for topic in group.topics for part in topic.partitions):
            if one.error_code == UNSTABLE:
                one.error_code, one.committed_offset = ErrorCode.NONE, COMMITTED


@takes("TXN-031", r"require_stable False, group \d of \d: the \(error, offset\) .*88", range(7, 99))
def every_read_requires_stable_offsets(request: OffsetFetchRequest) -> None:
    """The broker reads each request as if it required stable offsets."""
    topics = [*(request.topics or [])]
    partitions = [one.partition_indexes for one in topics]
    for group in request.groups:
        partitions += [one.partition_indexes for one in group.topics or []]
    if PARTITIONS_OF_STABLE_READ in partitions:
        request.require_stable = True


def _accept(answer: TxnOffsetCommitResponse, *refusals: ErrorCode) -> None:
    for topic in answer.topics:
        for one in topic.partitions:
            if one.error_code in refusals:
                one.error_code = ErrorCode.NONE


@answers("TXN-032", r"generation .*, partition 0 of \S+: error is NONE", asked=of_client("TXN-032"))
def any_generation_may_commit(answer: TxnOffsetCommitResponse) -> None:
    """The broker accepts a transactional commit of any generation."""
    _accept(answer, ErrorCode.ILLEGAL_GENERATION)


@answers("TXN-032", r"an unknown member, partition 0 of \S+: error is NONE",
         asked=of_client("TXN-032"))  # fmt: skip
def any_member_may_commit(answer: TxnOffsetCommitResponse) -> None:
    """The broker accepts a transactional commit of an unknown member."""
    _accept(answer, ErrorCode.UNKNOWN_MEMBER_ID)


@answers("TXN-032", r"an instance with the id of another member, .*: error is NONE",
         asked=of_client("TXN-032"))  # fmt: skip
def any_instance_may_commit(answer: TxnOffsetCommitResponse) -> None:
    """The broker accepts a transactional commit of a replaced static member."""
    _accept(answer, ErrorCode.FENCED_INSTANCE_ID)


@answers("TXN-033", r"the former producer: error is NONE", asked=of_client("TXN-033"))
def a_replaced_producer_may_commit_offsets(answer: TxnOffsetCommitResponse) -> None:
    """The broker accepts offsets of a producer that a new one has replaced."""
    _accept(answer, *FENCED)


@answers("TXN-033", r"a good place .*: error is NONE \(0\), expected UNKNOWN_TOPIC",
         asked=of_client("TXN-033"))  # fmt: skip
def offsets_need_no_topic(answer: TxnOffsetCommitResponse) -> None:
    """The broker accepts transactional offsets of topics that do not exist."""
    _accept(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@takes_from_client("TXN-034", r"after the commit, partition 0: \(offset, metadata\) is")
def an_implicit_group_is_left_out(request: EndTxnRequest) -> None:
    """The broker drops offsets of groups that were not added explicitly."""
    request.committed = False


DEFECTS = [
    rule("TXN-029", r"an open transaction, partition 0: \(offset, metadata\) is \(9,",
         PendingOffsetsAreVisible),
    the_end_decides_otherwise,
    a_transaction_without_records_is_empty,
    unstable_offsets_are_returned,
    stable_offsets_are_for_the_first_group,
    every_read_requires_stable_offsets,
    any_generation_may_commit,
    any_member_may_commit,
    any_instance_may_commit,
    a_replaced_producer_may_commit_offsets,
    offsets_need_no_topic,
    an_implicit_group_is_left_out,
]  # fmt: skip

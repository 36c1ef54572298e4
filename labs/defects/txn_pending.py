"""Defects of area TXN: offsets of transactions beside other offsets, and refused requests."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.client_requests import takes_from_client
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from, of_client
from labs.defects.txn_offsets import UNSTABLE, fetched_offsets

NONE, NO_OFFSET = ErrorCode.NONE, -1
OUTSIDE = frozenset({ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE})
PENDING = 9  # of TXN-044, TXN-048 and TXN-078
OF_SECOND = 20  # the pending offset of the producer that ends first, in TXN-045
CODES = "topics.partitions.error_code"


@answers("TXN-044", r"partition 0: \(offset, metadata\) is \(9, 'behind'\)")
def the_greater_offset_counts(answer: OffsetFetchResponse) -> None:
    """An offset that is lower than a pending one of its partition does not replace it."""
    for one in fetched_offsets(answer):
        if one.metadata == "behind":
            one.committed_offset = PENDING


@answers("TXN-044", r"after the commit, partition 1: \(offset, metadata\) is \(5, 'before'\)")
def what_is_committed_apart_stays(answer: OffsetFetchResponse) -> None:
    """The commit of a transaction replaces no offset that was committed outside of it."""
    places = {one.partition_index: one for one in fetched_offsets(answer)}
    metadata = [places[index].metadata for index in sorted(places)]
    if metadata[:2] == ["behind", "pending"]:
        places[1].committed_offset, places[1].metadata = 5, "before"


@answers("TXN-045", r"the second has ended, partition 0: \(error, stable offset\) is \(0, 20\)")
def one_end_is_enough(answer: OffsetFetchResponse) -> None:
    """A partition is stable when one of the transactions with an offset of it has ended."""
    places = {one.partition_index: one for one in fetched_offsets(answer)}
    codes = [places[index].error_code for index in sorted(places)]
    if codes == [UNSTABLE, UNSTABLE, NONE]:
        places[0].error_code, places[0].committed_offset = NONE, OF_SECOND


class SecondCommitsAreFenced(FrameRule):
    """The broker refuses the second TxnOffsetCommit with the same epoch of a producer."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, TxnOffsetCommitRequest) or not is_from(seen, "TXN-063"):
            return [payload]
        who = request.producer_id, request.producer_epoch
        is_known = who in self._seen
        self._seen.add(who)
        return [edited(seen, payload, self._refuse)] if is_known else [payload]

    def _refuse(self, _: SeenRequest, answer: TxnOffsetCommitResponse) -> None:
        for topic in answer.topics:
            for one in topic.partitions:
                one.error_code = ErrorCode.INVALID_PRODUCER_EPOCH


class _PendingComesBack(FrameRule):
    """An offset that was pending for a group of the test is fetched where there is none."""

    test = ""

    def __init__(self) -> None:
        self._pending: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, TxnOffsetCommitRequest) and is_from(seen, self.test):
            self._pending.add(seen.message.group_id)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, OffsetFetchRequest):
            return [payload]
        groups = [group.group_id for group in request.groups] or [request.group_id]
        return [edited(seen, payload, _bring_back)] if self._pending & set(groups) else [payload]


class DeletedGroupsComeBack(_PendingComesBack):
    """The broker keeps the pending offsets of a group that is deleted."""

    test = "TXN-048"


class DeletedPendingOffsetsComeBack(_PendingComesBack):
    """The broker keeps an offset that is deleted while it is pending."""

    test = "TXN-078"

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, EndTxnRequest) and is_from(seen, self.test):
            self._has_ended = True
        return super().on_response(seen, payload) if self._has_ended else [payload]

    def __init__(self) -> None:
        super().__init__()
        self._has_ended = False


def _bring_back(_: SeenRequest, answer: OffsetFetchResponse) -> None:
    for one in fetched_offsets(answer):
        if one.committed_offset == NO_OFFSET:
            one.committed_offset = PENDING


@takes_from_client(
    "TXN-052", r"the errors by transaction and partition are|commit without a transaction"
)
def a_verification_adds_partitions(request: AddPartitionsToTxnRequest) -> None:
    """The broker adds the partitions that it has to verify."""
    for transaction in request.transactions:
        transaction.verify_only = False


@answers(
    "TXN-060", r"a generation alone, partition 0 .*: error is NONE", asked=of_client("TXN-060")
)
def a_generation_needs_no_member(answer: TxnOffsetCommitResponse) -> None:
    """The broker accepts a transactional commit that names the generation alone."""
    for topic in answer.topics:
        for one in topic.partitions:
            if one.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
                one.error_code = int(NONE)


DEFECTS = [
    rule(
        "TXN-063",
        r"transaction from 10, 10, .*: error is INVALID_PRODUCER_EPOCH",
        SecondCommitsAreFenced,
    ),
    the_greater_offset_counts,
    what_is_committed_apart_stays,
    one_end_is_enough,
    changed_field("TXN-046", "metadata_in_transactions_has_no_limit",
        r"TxnOffsetCommit, partition 1 .*: error is NONE",
        "The broker accepts metadata of any length in a transaction.",
        TxnOffsetCommitResponse, CODES,
        ErrorCode.OFFSET_METADATA_TOO_LARGE, NONE, asked=of_client("TXN-046")),
    changed_field("TXN-047", "a_group_needs_no_transaction",
        r"no transaction, partition 0 .*: error is NONE",
        "The broker accepts offsets of a group that the transaction does not have.",
        TxnOffsetCommitResponse, CODES, OUTSIDE, NONE, asked=of_client("TXN-047")),
    rule("TXN-048", r"the deleted group, partition 0: offset is 9", DeletedGroupsComeBack),
    rule(
        "TXN-078",
        r"deleted beside a committed one, partition 0: offset is 9",
        DeletedPendingOffsetsComeBack,
    ),
    changed_field("TXN-049", "any_identity_adds_groups",
        r"(an unknown id|a producer id of \w+ \w+): error is NONE",
        "AddOffsetsToTxn takes each transactional id and each producer id.",
        AddOffsetsToTxnResponse, "error_code",
        ErrorCode.INVALID_PRODUCER_ID_MAPPING, NONE, asked=of_client("TXN-049")),
    changed_field("TXN-049", "any_epoch_adds_groups",
        r"(the epoch before|an epoch to come): error is NONE",
        "AddOffsetsToTxn takes each epoch.",
        AddOffsetsToTxnResponse, "error_code",
        frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH}), NONE,
        asked=of_client("TXN-049")),
    changed_field("TXN-050", "the_empty_id_is_only_unknown",
        r"an empty transactional id: error is INVALID_PRODUCER_ID_MAPPING",
        "EndTxn looks the empty transactional id up.",
        EndTxnResponse, "error_code", ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING, asked=of_client("TXN-050")),
    changed_field("TXN-051", "clients_add_internal_topics",
        r"partition 0 of __consumer_offsets: error is NONE",
        "A client adds an internal topic to its transaction.",
        AddPartitionsToTxnResponse,
        "results_by_topic_v3_and_below.results_by_partition.partition_error_code",
        ErrorCode.TOPIC_AUTHORIZATION_FAILED, NONE, asked=of_client("TXN-051")),
    a_verification_adds_partitions,
    a_generation_needs_no_member,
]  # fmt: skip

"""Defects of areas REPL and EPOCH: a leader before unusual readers, and after a truncation."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    FetchRequest,
    FetchResponse,
    ProduceResponse,
)
from harness.codec.structs import Message
from labs.defects.replicas import (
    Answered,
    Replicas,
    told_to_consumers,
    told_to_others,
    told_to_replicas,
)

ABORTED = -4
"""The key of the producer of an aborted transaction, beside the ids of brokers."""
COMMITTED, LEFT = 6, 3
"""The high watermark before and after a truncation below it."""
AGAIN = 4
"""The number of the Produce request that sends the removed batch again."""


@told_to_replicas("REPL-033", r"no replica, leader epoch 0: error is NOT_LEADER_OR_FOLLOWER")
def a_new_replica_has_no_leader(_: Replicas, data: Answered) -> None:
    """The leader answers a broker without a replica as if it did not lead."""
    if data.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH:
        data.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER


@told_to_others("REPL-034", r"a later broker epoch: error is NOT_LEADER_OR_FOLLOWER")
def only_the_known_epoch_may_fetch(done: Replicas, asked: Message, answer: Message) -> None:
    """The leader refuses each broker epoch that differs from the one it knows."""
    if isinstance(asked, BrokerRegistrationRequest):
        assert isinstance(answer, BrokerRegistrationResponse)
        done.epochs[asked.broker_id] = answer.broker_epoch
    if isinstance(asked, FetchRequest) and isinstance(answer, FetchResponse):
        state = asked.replica_state
        if state.replica_epoch > done.epochs.get(state.replica_id, state.replica_epoch):
            data = answer.responses[0].partitions[0]
            data.error_code, data.records = ErrorCode.NOT_LEADER_OR_FOLLOWER, b""


@told_to_others("FETCH-018", r"the incremental fetch leaves the partition out")
def a_session_names_no_replica(_: Replicas, asked: Message, answer: Message) -> None:
    """An incremental response leaves out a partition of which only the reader's replica is new."""
    is_incremental = isinstance(asked, FetchRequest) and asked.session_epoch > 0
    if is_incremental and isinstance(answer, FetchResponse):
        answer.responses = []


@told_to_others("REPL-035", r"a consumer with a rack is given the records \[0, 1, 2, 3, 4\]")
def a_rack_reads_all(done: Replicas, asked: Message, answer: Message) -> None:
    """The leader returns records that are not committed to a consumer with a rack."""
    if not isinstance(asked, FetchRequest) or not isinstance(answer, FetchResponse):
        return
    if asked.rack_id and (done.r2, done.r3) == ([5], [3]):
        data = answer.responses[0].partitions[0]
        data.records = bytes(data.records or b"") + done.given[-1]


@told_to_others("EPOCH-016", r"the batch that was cut is at 1, not 3")
def a_removed_batch_is_a_duplicate(done: Replicas, _: Message, answer: Message) -> None:
    """The leader answers a batch that a truncation removed with the place that it had."""
    if isinstance(answer, ProduceResponse) and len(done.acks) == AGAIN:
        answer.responses[0].partition_responses[0].base_offset = 1


@told_to_others("EPOCH-017", r"after the cut the aborted transactions are \[\(\d+, 0\)\]")
def a_removed_marker_counts(done: Replicas, _: Message, answer: Message) -> None:
    """The follower keeps the aborted transaction of a marker that a truncation removed."""
    if not isinstance(answer, FetchResponse):
        return
    data = answer.responses[0].partitions[0]
    if data.aborted_transactions:
        done.epochs[ABORTED] = data.aborted_transactions[0].producer_id
    elif data.last_stable_offset == 3 and ABORTED in done.epochs:
        kept = FetchResponse.AbortedTransaction
        data.aborted_transactions = [kept(producer_id=done.epochs[ABORTED], first_offset=0)]


@told_to_consumers("EPOCH-018", r"the follower leads: a consumer .* the high watermark 6")
def a_cut_keeps_the_high_watermark(done: Replicas, _: int, data: Answered) -> None:
    """A truncation leaves the high watermark where it was, behind the log's end."""
    if done.timed_out and data.high_watermark == LEFT:
        data.high_watermark = COMMITTED
    done.timed_out |= data.high_watermark == COMMITTED


DEFECTS = [
    a_cut_keeps_the_high_watermark,
    a_removed_marker_counts,
    a_new_replica_has_no_leader,
    only_the_known_epoch_may_fetch,
    a_session_names_no_replica,
    a_rack_reads_all,
    a_removed_batch_is_a_duplicate,
]

"""Defects of area ISR: the time that a follower may be behind."""

from __future__ import annotations

import time

from harness.codec.messages import MetadataResponse, UnregisterBrokerRequest
from harness.codec.structs import Message
from labs.defects.replicas import Replicas, told_to_others

MANY = 20
"""Fetches, more than in any test that is not about the time that passes."""
TOO_LATE_S = 13
"""Time after which a lag of three seconds must be noticed, on a busy machine too."""
FAR_BEHIND = 3
SELDOM = 5
"""Records for each fetch of R3, more than in a test in which it fetches often."""
UNREGISTERED = -1
"""The key of ``Replicas.epochs`` that is there once a client has unregistered a broker."""


def _tell_r3(done: Replicas, answer: Message, *, is_in: bool) -> None:
    """Add R3 to the newest topic's ISR in an answer to Metadata, or remove it."""
    if not isinstance(answer, MetadataResponse) or not done.r3:
        return
    r3 = done.replicas[2]
    for topic in answer.topics:
        for each in topic.partitions:
            if each.replica_nodes == done.replicas and is_in != (r3 in each.isr_nodes):
                others = [node for node in each.isr_nodes if node != r3]
                each.isr_nodes = [*others, r3] if is_in else others


@told_to_others("ISR-002", r"R3 has left the ISR within \d+ ms, the lag may be 3000 ms")
def who_lacks_a_record_leaves_at_once(done: Replicas, _: Message, answer: Message) -> None:
    """A follower leaves the ISR with the first records that it lacks."""
    if done.r3 == [1] and len(done.acks) > 1:
        _tell_r3(done, answer, is_in=False)


@told_to_others("ISR-003", r"R3 is in the ISR, and was not caught up for")
def who_fetches_stays(done: Replicas, _: Message, answer: Message) -> None:
    """A follower that fetches is in sync, however far behind it is."""
    if done.r3[:2] == [1, 1] and len(done.acks) - len(done.r3) >= FAR_BEHIND:
        _tell_r3(done, answer, is_in=True)


@told_to_others("ISR-004", r"R3 is one record behind, and after \d+ ms not in the ISR")
def only_the_end_counts(done: Replicas, _: Message, answer: Message) -> None:
    """A follower that never reaches the end of the log leaves the ISR."""
    if len(done.r3) > MANY and len(done.acks) - len(done.r3) < FAR_BEHIND:
        _tell_r3(done, answer, is_in=False)


@told_to_others("ISR-019", r"R3 is in the ISR, and was not caught up for")
def the_previous_end_counts_from_now(done: Replicas, _: Message, answer: Message) -> None:
    """A follower that reaches the end of its previous fetch counts as caught up now."""
    if len(done.r3) > 1 and len(done.acks) > SELDOM * len(done.r3):
        _tell_r3(done, answer, is_in=True)


@told_to_others("ISR-006", r"R3 is in the ISR, not caught up for \d+ ms; its lag may be 3000 ms")
def a_lag_is_noticed_late(done: Replicas, _: Message, answer: Message) -> None:
    """The leader checks for lagging followers too seldom."""
    if done.r3 == [1] and len(done.acks) > 1:
        now_ms = int(time.monotonic() * 1000)
        since_ms = done.epochs.setdefault(done.replicas[2], now_ms)
        if now_ms - since_ms < TOO_LATE_S * 1000:
            _tell_r3(done, answer, is_in=True)


@told_to_others("ISR-018", r"it has left the ISR within \d+ ms, the lag may be 3000 ms")
def a_new_leader_has_no_patience(done: Replicas, asked: Message, answer: Message) -> None:
    """A leader that followed before removes the followers that have not fetched from it."""
    if isinstance(asked, UnregisterBrokerRequest):
        done.epochs[UNREGISTERED] = 1
    if not isinstance(answer, MetadataResponse) or done.acks or UNREGISTERED in done.epochs:
        return
    for topic in answer.topics:
        for each in topic.partitions:
            leads = len(done.replicas) > 1 and each.leader_id == done.replicas[1]
            if leads and done.timed_out:
                each.isr_nodes = [each.leader_id]
            done.timed_out |= leads and len(each.isr_nodes) > 1


DEFECTS = [
    who_lacks_a_record_leaves_at_once,
    who_fetches_stays,
    only_the_end_counts,
    the_previous_end_counts_from_now,
    a_lag_is_noticed_late,
    a_new_leader_has_no_patience,
]

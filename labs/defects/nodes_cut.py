"""Defects of a cluster with cut links, or with a lost controller: its answers meanwhile.

They strike the clients of one test, which name themselves.
"""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeConfigsResponse,
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import decode_batches, encode_batch
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import answers, rule
from labs.defects.edited_request import with_body
from labs.defects.nodes_data import with_other_values
from labs.defects.nodes_lost import AcknowledgedAndLost
from labs.defects.one_client import is_from
from labs.defects.one_node import at, of_cluster

LEADER = 1
DAYS_7 = "604800000"


def _acknowledge(message: Message) -> None:
    """Remove every error."""
    assert isinstance(message, ProduceResponse)
    for topic in message.responses:
        for each in topic.partition_responses:
            each.error_code = ErrorCode.NONE


@answers("BROK-013", r"the old leader's client is told NONE", "Produce")
def zombies_are_never_told(seen: SeenRequest, message: Message) -> None:
    """A deposed leader goes on to acknowledge records."""
    if is_from(seen, "BROK-013"):
        _acknowledge(message)


@answers("BROK-014", r"is alone and acknowledges acks=all", "Produce")
def alone_is_enough(seen: SeenRequest, message: Message) -> None:
    """A leader that reaches no follower acknowledges acks=all."""
    if is_from(seen, "BROK-014"):
        _acknowledge(message)


@answers("REPL-022", r"acknowledged b'\d+' at offset -1", "Produce")
def followers_acknowledge_too(seen: SeenRequest, message: Message) -> None:
    """Every broker acknowledges records, leader or not."""
    if is_from(seen, "REPL-022"):
        _acknowledge(message)


class LostBehindALink(AcknowledgedAndLost):
    """The broker acknowledges one record among many, and stores another one in its place."""

    lost = b"1007"


class AllIsLeader(FrameRule):
    """The leader treats acks=all as acks=1."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, ProduceRequest) or not is_from(seen, "REPL-028"):
            return seen.payload
        request.acks = LEADER
        return with_body(seen, request)


@answers("ACKS-016", r"offsets leave a gap", "Fetch")
def what_was_lost_leaves_a_gap(seen: SeenRequest, message: Message) -> None:
    """Fetch leaves a gap in the offsets after the first batch."""
    assert isinstance(message, FetchResponse)
    if not is_from(seen, "ACKS-016"):
        return
    for topic in message.responses:
        for each in topic.partitions:
            batches = decode_batches(bytes(each.records or b""))
            each.records = b"".join(
                encode_batch(replace(batch, base_offset=batch.base_offset + bool(number)))
                for number, batch in enumerate(batches)
            )


@answers("ISR-013", r"acks=all is acknowledged", "Produce")
def a_proposal_is_enough(seen: SeenRequest, message: Message) -> None:
    """The leader does not wait for a follower that it has proposed to remove from the ISR."""
    if is_from(seen, "ISR-013"):
        _acknowledge(message)


@answers("EPOCH-009", r"replicas \d and \d differ", "Fetch")
def a_replica_has_another_log(seen: SeenRequest, message: Message) -> None:
    """The third broker has other values."""
    assert isinstance(message, FetchResponse)
    if at(3, seen) and is_from(seen, "EPOCH-009"):
        for topic in message.responses:
            for each in topic.partitions:
                batches = decode_batches(bytes(each.records or b""))
                each.records = b"".join(encode_batch(with_other_values(batch)) for batch in batches)


def _forget(message: Message, value: str) -> None:
    assert isinstance(message, DescribeConfigsResponse)
    for resource in message.results:
        for config in resource.configs:
            if config.value == value:
                config.value = DAYS_7


@answers("RAFT-002", r"expected \{'retention.ms': '123456789'\}", "DescribeConfigs")
def the_controller_takes_it_along(seen: SeenRequest, message: Message) -> None:
    """A topic has the default config again."""
    del seen
    _forget(message, "123456789")


@answers("RAFT-016", r"expected \{'retention.ms': '987654321'\}", "DescribeConfigs")
def a_restart_forgets(seen: SeenRequest, message: Message) -> None:
    """A topic has the default config again."""
    del seen
    _forget(message, "987654321")


DEFECTS = of_cluster(
    [
        zombies_are_never_told,
        alone_is_enough,
        followers_acknowledge_too,
        rule("REPL-025", r"lost_write", LostBehindALink),
        rule("REPL-028", r"a slow follower, and acks=all took", AllIsLeader),
        what_was_lost_leaves_a_gap,
        a_proposal_is_enough,
        a_replica_has_another_log,
        the_controller_takes_it_along,
        a_restart_forgets,
    ],
    private=True,
)

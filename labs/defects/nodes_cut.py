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
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.nodes_data import with_other_values
from labs.defects.nodes_lost import AcknowledgedAndLost
from labs.defects.one_client import is_from, of_client
from labs.defects.one_node import at, of_cluster

LEADER = 1
DAYS_7 = "604800000"


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


@answers("ACKS-016", r"offsets leave a gap")
def what_was_lost_leaves_a_gap(seen: SeenRequest, answer: FetchResponse) -> None:
    """Fetch leaves a gap in the offsets after the first batch."""
    if not is_from(seen, "ACKS-016"):
        return
    for topic in answer.responses:
        for each in topic.partitions:
            batches = decode_batches(bytes(each.records or b""))
            each.records = b"".join(
                encode_batch(replace(batch, base_offset=batch.base_offset + bool(number)))
                for number, batch in enumerate(batches)
            )


@answers("EPOCH-009", r"replicas \d and \d differ")
def a_replica_has_another_log(seen: SeenRequest, answer: FetchResponse) -> None:
    """The third broker has other values."""
    if at(3, seen) and is_from(seen, "EPOCH-009"):
        for topic in answer.responses:
            for each in topic.partitions:
                batches = decode_batches(bytes(each.records or b""))
                each.records = b"".join(encode_batch(with_other_values(batch)) for batch in batches)


DEFECTS = of_cluster(
    [
        changed_field("BROK-013", "zombies_are_never_told",
                      r"the old leader's client receives NONE",
            "A deposed leader goes on to acknowledge records.",
            ProduceResponse, "responses.partition_responses.error_code",
            ANY, ErrorCode.NONE, asked=of_client("BROK-013")),
        changed_field("BROK-014", "alone_is_enough", r"is alone and acknowledges acks=all",
            "A leader that reaches no follower acknowledges acks=all.",
            ProduceResponse, "responses.partition_responses.error_code",
            ANY, ErrorCode.NONE, asked=of_client("BROK-014")),
        changed_field("REPL-022", "followers_acknowledge_too", r"acknowledged b'\d+' at offset -1",
            "Every broker acknowledges records, leader or not.",
            ProduceResponse, "responses.partition_responses.error_code",
            ANY, ErrorCode.NONE, asked=of_client("REPL-022")),
        rule("REPL-025", r"lost_write", LostBehindALink),
        rule("REPL-028", r"a slow follower, and acks=all took", AllIsLeader),
        what_was_lost_leaves_a_gap,
        changed_field("ISR-013", "a_proposal_is_enough", r"acks=all is acknowledged",
            "The leader does not wait for a follower that it has proposed to remove from the ISR.",
            ProduceResponse, "responses.partition_responses.error_code",
            ANY, ErrorCode.NONE, asked=of_client("ISR-013")),
        a_replica_has_another_log,
        changed_field("RAFT-002", "the_controller_takes_it_along",
            r"expected \{'retention.ms': '123456789'\}",
            "A topic has the default config again.",
            DescribeConfigsResponse, "results.configs.value", "123456789", DAYS_7),
        changed_field("RAFT-016", "a_restart_forgets", r"expected \{'retention.ms': '987654321'\}",
            "A topic has the default config again.",
            DescribeConfigsResponse, "results.configs.value", "987654321", DAYS_7),
    ],
    private=True,
)  # fmt: skip

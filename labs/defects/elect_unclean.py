"""Defects of areas ELECT and ACKS: partitions that lose their replicas in sync."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    CreateTopicsRequest,
    DescribeTopicPartitionsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    FetchResponse,
    ListOffsetsResponse,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import decode_batches, encode_batch
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.one_node import at, of_broker, of_cluster

UNCLEAN = ("unclean.leader.election.enable", "true")
CLEAN = ("unclean.leader.election.enable", "false")
SECOND, THIRD = 2, 3
FOUR = 4


class Elections(FrameRule):
    """Remember the topics with unclean elections, and the requests since the newest topic was made.

    ``replicas``: of the newest topic; ``is_asked``: a client sent ElectLeaders; ``is_alone``: a
    client wrote with acks=1.
    """

    def __init__(self) -> None:
        self.made_unclean: set[str] = set()
        self.turned_unclean: set[str] = set()
        self.is_asked = self.is_alone = False
        self.replicas = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        message = seen.message
        if isinstance(message, CreateTopicsRequest):
            self.is_asked = self.is_alone = False
            for made in message.topics:
                self.replicas = max((len(each.broker_ids) for each in made.assignments), default=0)
                if UNCLEAN in [(config.name, config.value) for config in made.configs]:
                    self.made_unclean.add(made.name)
        elif isinstance(message, AlterConfigsRequest):
            for changed in message.resources:
                if UNCLEAN in [(config.name, config.value) for config in changed.configs]:
                    self.turned_unclean.add(changed.resource_name)
        self.is_asked |= isinstance(message, ElectLeadersRequest)
        self.is_alone |= isinstance(message, ProduceRequest) and message.acks == 1
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [payload if seen.message is None else edited(seen, payload, self.edit)]

    def edit(self, seen: SeenRequest, message: Message) -> None:
        """Change an answer."""


def _no_leader_is_needed(seen: SeenRequest, message: ProduceResponse) -> None:
    """Acknowledge records with acks=1 at a broker that does not lead."""
    assert isinstance(seen.message, ProduceRequest)
    for topic in message.responses:
        for each in topic.partition_responses:
            if seen.message.acks == 1 and each.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                each.error_code = ErrorCode.NONE


class WhoLacksRecordsTakesMore(Elections):
    """A replica that is not in sync takes records while the partition has no leader."""

    def edit(self, seen: SeenRequest, message: Message) -> None:
        if isinstance(message, ProduceResponse) and not self.is_asked:
            _no_leader_is_needed(seen, message)


class WhoIsPreferredTakesRecords(Elections):
    """A preferred leader takes records after a request to elect it, in sync or not."""

    def edit(self, seen: SeenRequest, message: Message) -> None:
        if isinstance(message, ProduceResponse) and self.is_asked:
            _no_leader_is_needed(seen, message)


class TheLostStayInSync(Elections):
    """An unclean election leaves the former members in the ISR."""

    def edit(self, seen: SeenRequest, message: Message) -> None:
        if not isinstance(message, MetadataResponse):
            return
        there = {broker.node_id for broker in message.brokers}
        for topic in message.topics:
            for each in topic.partitions:
                is_unclean = topic.name in self.made_unclean and each.isr_nodes == [THIRD]
                if is_unclean and SECOND not in there:
                    each.isr_nodes = [THIRD, SECOND]


class TopicsMayNotTurnUnclean(Elections):
    """A change of the topic's config starts no unclean election."""

    def edit(self, seen: SeenRequest, message: Message) -> None:
        if isinstance(message, MetadataResponse):
            for topic in message.topics:
                for each in topic.partitions:
                    if topic.name in self.turned_unclean:
                        each.leader_id = -1


class TopicsMayNotForbidElections(Elections):
    """A lagging replica leads a topic with a config that forbids it, beside one without."""

    def __init__(self) -> None:
        super().__init__()
        self.newest, self.forbidden = "", ""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, CreateTopicsRequest):
            for made in seen.message.topics:
                forbids = CLEAN in [(config.name, config.value) for config in made.configs]
                is_second = made.name[:-1] == self.newest[:-1]  # of the same test
                self.forbidden = made.name if forbids and is_second else ""
                self.newest = made.name
        return super().on_request(seen)

    def edit(self, seen: SeenRequest, message: Message) -> None:
        if not isinstance(message, MetadataResponse):
            return
        there = {broker.node_id for broker in message.brokers}
        for topic in message.topics:
            if topic.name == self.forbidden and THIRD in there and SECOND not in there:
                for each in topic.partitions:
                    each.leader_id = THIRD


class WhatOneHasIsCommitted(Elections):
    """ListOffsets returns a log end that only the leader has."""

    def edit(self, seen: SeenRequest, message: Message) -> None:
        is_last_of_four = self.is_alone and self.replicas == FOUR
        if isinstance(message, ListOffsetsResponse) and is_last_of_four:
            for topic in message.topics:
                for each in topic.partitions:
                    if each.offset == 1:
                        each.offset = 2


@answers("ELECT-007", r"2 has \[b'on both', b'on the last'\]")
def what_the_leader_lacks_is_kept(seen: SeenRequest, answer: FetchResponse) -> None:
    """The second broker keeps its own second record."""
    for topic in answer.responses:
        for each in topic.partitions:
            batches = decode_batches(bytes(each.records or b"")) if at(SECOND, seen) else []
            if [record.value for batch in batches for record in batch.records][1:] == [b"after it"]:
                (record,) = batches[1].records
                kept = [replace(record, value=b"on the last")]
                own = replace(batches[1], records=kept, crc=None, batch_length=None)
                each.records = encode_batch(batches[0]) + encode_batch(own)


@answers("ELECT-018", r"by broker 2 ISR and ELR overlap", asked=of_broker(SECOND))
def who_is_in_sync_is_eligible_too(answer: DescribeTopicPartitionsResponse) -> None:
    """The second broker reports the members of the ISR as eligible leader replicas."""
    for topic in answer.topics:
        for each in topic.partitions:
            each.eligible_leader_replicas = list(each.isr_nodes)


DEFECTS = of_cluster(
    [
        rule("ELECT-004", r"Produce is served by 3, which does not", WhoLacksRecordsTakesMore),
        rule("ELECT-006", r"the ISR is \{2, 3\}, 3 alone has", TheLostStayInSync),
        what_the_leader_lacks_is_kept,
        rule("ELECT-008", r"not within .*: one leader of", TopicsMayNotTurnUnclean),
        rule("ELECT-008", r"\{3\} lead, in sync is ", TopicsMayNotForbidElections),
        changed_field("ELECT-009", "acks_1_needs_enough_in_sync",
            r"acks=1 with the leader alone: error is NOT_ENOUGH_REPLICAS",
            "The broker refuses records with acks=1 too when the ISR is too small.",
            ProduceResponse, "responses.partition_responses.error_code",
            ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS, requested={"acks": 1}),
        changed_field("ELECT-012", "nobody_is_not_preferred",
            r"no replica is alive: error is PREFERRED_LEADER_NOT_AVAILABLE",
            "A failed unclean election returns the error of a preferred one.",
            ElectLeadersResponse, "replica_election_results.partition_result.error_code",
            ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        rule("ELECT-013", r"Produce is served by 3, which does not", WhoIsPreferredTakesRecords),
        who_is_in_sync_is_eligible_too,
        rule(
            "ACKS-013",
            r"three are lost: \(high watermark, end\) is \(1, 2\)",
            WhatOneHasIsCommitted,
        ),
    ],
    private=True,
)  # fmt: skip

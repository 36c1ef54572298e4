"""Defects of a cluster, areas META, ISR: the answers of its brokers about one another.

Tests prepare themselves at the highest version of Metadata, so defects at lower ones spare that.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response
from harness.codec.messages import (
    DescribeTopicPartitionsResponse,
    MetadataResponse,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.one_node import of_broker, of_cluster

OLD = range(13)
THREE = 3


def _answer(message: Message) -> MetadataResponse:
    assert isinstance(message, MetadataResponse)
    return message


def _replicated(message: Message) -> list[MetadataResponse.MetadataResponsePartition]:
    """The partitions of topics that have three, with three replicas each."""
    return [
        partition
        for topic in _answer(message).topics
        if len(topic.partitions) == THREE
        for partition in topic.partitions
        if len(partition.replica_nodes) == THREE
    ]


@answers("META-001", r"broker 2 lists the brokers", OLD, asked=of_broker(2))
def a_broker_lists_itself_alone(message: MetadataResponse) -> None:
    """The second broker lists no other broker (up to v12)."""
    answer = message
    answer.brokers = [each for each in answer.brokers if each.node_id == 2]


@answers("META-002", r"returns the addresses", range(2), asked=of_broker(1))
def brokers_change_addresses(answer: MetadataResponse) -> None:
    """The first broker swaps two addresses (up to v1)."""
    one, two, *_ = sorted(answer.brokers, key=lambda broker: broker.node_id)
    (one.host, one.port), (two.host, two.port) = (two.host, two.port), (one.host, one.port)


@answers("META-025", r"broker 2 still tells", OLD, asked=of_broker(2))
def a_broker_hears_of_no_leader(answer: MetadataResponse) -> None:
    """The second broker never names the leader of new partitions (up to v12)."""
    for partition in _replicated(answer):
        partition.leader_id = -1


class RefusedClientsAreToldNoLeader(FrameRule):
    """A follower that has refused a record names no leader afterwards."""

    def __init__(self) -> None:
        self.refused: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name not in ("Produce", "Metadata"):
            return [payload]
        _, message = decode_response(seen.api, seen.version, payload)
        if isinstance(message, ProduceResponse):
            codes = {p.error_code for t in message.responses for p in t.partition_responses}
            if ErrorCode.NOT_LEADER_OR_FOLLOWER in codes:
                self.refused.add(seen.place.destination)
        elif seen.place.destination in self.refused:
            return [edited(seen, payload, self._forget)]
        return [payload]

    def _forget(self, seen: SeenRequest, message: Message) -> None:
        self.refused.discard(seen.place.destination)
        for topic in _answer(message).topics:
            for partition in topic.partitions:
                partition.leader_id = -1


@answers("META-029", r"ELR and last known ELR are")
def the_isr_is_eligible_too(answer: DescribeTopicPartitionsResponse) -> None:
    """DescribeTopicPartitions lists members of the ISR as eligible leaders too."""
    for topic in answer.topics:
        for partition in topic.partitions:
            partition.eligible_leader_replicas = list(partition.isr_nodes)


@answers("ISR-001", r"broker 3 tells of the ISRs", OLD, asked=of_broker(3))
def a_new_topic_lacks_a_member(answer: MetadataResponse) -> None:
    """The third broker reports only the leaders of a new topic as in sync (up to v12)."""
    for partition in _replicated(answer):
        partition.isr_nodes = [partition.leader_id]


class WhoHasNothingNewLeaves(FrameRule):
    """Followers leave the ISR when no records follow the first one."""

    def __init__(self) -> None:
        self.written = False

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is not None and seen.api.name == "Produce":
            self.written = True
        if seen.api is None or seen.api.name != "Metadata" or not self.written:
            return [payload]
        return [edited(seen, payload, self._shrink)]

    def _shrink(self, seen: SeenRequest, message: Message) -> None:
        del seen
        for topic in _answer(message).topics:
            for partition in topic.partitions:
                partition.isr_nodes = [partition.leader_id]


DEFECTS = of_cluster(
    [
        a_broker_lists_itself_alone,
        brokers_change_addresses,
        changed_field("META-018", "each_broker_has_a_cluster_id", r"different cluster ids",
            "The second broker returns another cluster id.",
            MetadataResponse, "cluster_id",
            ANY, "another", range(2, 99), where={"topics": []}, asked=of_broker(2)),
        a_broker_hears_of_no_leader,
        rule("META-026", r"then it names the leader -1", RefusedClientsAreToldNoLeader),
        the_isr_is_eligible_too,
        a_new_topic_lacks_a_member,
        rule("ISR-005", r"the ISR shrank from", WhoHasNothingNewLeaves),
    ]
)  # fmt: skip

"""Defects of a cluster with harmed nodes: records and answers of the brokers that are left."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeClusterResponse,
    HeartbeatResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetFetchResponse,
    ProduceRequest,
    ProduceResponse,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.newest_topic import NewestTopic, drop_value, of_newest
from labs.defects.one_node import of_cluster

LATEST = NO_LEADER = -1
NOT_COMMITTED = -1
MANY = 100
LARGE = 50_000
FIRST_WITH_CHOICE = 4  # below it every Metadata request creates topics


def _refuse(message: ProduceResponse, code: ErrorCode) -> None:
    for topic in message.responses:
        for each in topic.partition_responses:
            each.error_code, each.base_offset = int(code), -1


@of_newest("ACKS-012", r"\[1, 2\] left: error is NOT_ENOUGH_REPLICAS")
def half_of_four_are_too_few(done: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """The leader refuses records with two of four in sync, though min.insync.replicas is two."""
    del seen
    two_are_enough = done.configs.get("min.insync.replicas") == "2"
    if isinstance(answer, ProduceResponse) and two_are_enough and done.produced == 3:
        _refuse(answer, ErrorCode.NOT_ENOUGH_REPLICAS)


@of_newest("ACKS-014", r"three are lost: acknowledged .*, there is \[b'with 3', b'with 2'\]")
def the_last_one_keeps_nothing(_: NewestTopic, __: SeenRequest, answer: Message) -> None:
    """The last replica acknowledges records, and does not keep them."""
    drop_value(answer, b"with 1")


@of_newest("TOPIC-042", r"the broker that was away has \[\(1, b'last'\)\]")
def the_first_new_record_is_lost(_: NewestTopic, __: SeenRequest, answer: Message) -> None:
    """A broker that was away lacks the first record of a topic that was made again meanwhile."""
    drop_value(answer, b"new")


class ListedForEver(FrameRule):
    """Metadata lists for ever every broker that it has listed."""

    def __init__(self) -> None:
        self.listed: dict[int, MetadataResponse.MetadataResponseBroker] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "Metadata":
            return [payload]
        return [edited(seen, payload, self._more)]

    def _more(self, seen: SeenRequest, message: MetadataResponse) -> None:
        del seen
        self.listed |= {broker.node_id: broker for broker in message.brokers}
        message.brokers = list(self.listed.values())


class DeadBrokersAreOffered(ListedForEver):
    """Metadata lists for ever every broker that it has listed."""


@answers(
    "META-027", r"it is made: \[\[1, 2, 3\]\]", asked=lambda seen: seen.version >= FIRST_WITH_CHOICE
)
def fewer_replicas_are_made(request: MetadataRequest, answer: MetadataResponse) -> None:
    """Metadata creates an unknown topic with as many replicas as there are brokers."""
    if request.allow_auto_topic_creation:
        for topic in answer.topics:
            topic.error_code = ErrorCode.NONE
            topic.partitions = [
                MetadataResponse.MetadataResponsePartition(leader_id=1, replica_nodes=[1, 2, 3])
            ]


@answers("META-032", r"unregistered before: error is NONE")
def an_id_is_unregistered_twice(
    request: UnregisterBrokerRequest, answer: UnregisterBrokerResponse
) -> None:
    """The controller reports a broker that has no registration any more as unregistered."""
    if request.broker_id < MANY:
        answer.error_code = ErrorCode.NONE


@answers("META-014", r"the partition of live brokers: error is REPLICA_NOT_AVAILABLE", range(1))
def a_dead_broker_is_told_of_all_partitions(answer: MetadataResponse) -> None:
    """Metadata v0 returns the error of a dead replica for a partition of two live brokers."""
    for topic in answer.topics:
        for each in topic.partitions:
            if list(each.replica_nodes) == [2, 1]:
                each.error_code = int(ErrorCode.REPLICA_NOT_AVAILABLE)


@answers("META-011", r"the other partition: error is LEADER_NOT_AVAILABLE", range(13))
def one_lost_leader_is_told_of_all_partitions(answer: MetadataResponse) -> None:
    """Metadata returns the error of a partition without leader for each one of its topic."""
    for topic in answer.topics:
        is_lost = any(each.leader_id == NO_LEADER for each in topic.partitions)
        if is_lost and len(topic.partitions) == 2:
            for each in topic.partitions:
                each.error_code = int(ErrorCode.LEADER_NOT_AVAILABLE)


@answers("OFFS-014", r"partition 100: \(offset, metadata\) is \(-1")
def half_of_the_offsets_are_loaded(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns no offset for the second half of many partitions."""
    for group in answer.groups:
        for topic in group.topics:
            if len(topic.partitions) > MANY:
                for each in topic.partitions:
                    if each.partition_index >= MANY:
                        each.committed_offset = NOT_COMMITTED


class TheEndIsTakenBack(NewestTopic):
    """The next leader returns an end of the log that is one record lower."""

    def answer(self, seen: SeenRequest, answer: Message) -> None:
        asked = seen.message
        if not isinstance(asked, ListOffsetsRequest) or self.produced < 20:
            return
        assert isinstance(answer, ListOffsetsResponse)
        wanted, told = asked.topics[0].partitions[0], answer.topics[0].partitions[0]
        if wanted.timestamp != LATEST or told.offset != self.produced:
            return
        teller = int(seen.place.destination)
        if self.told.setdefault(0, teller) != teller:
            told.offset -= 1


@of_newest("REPL-024", r"record 0: error is REQUEST_TIMED_OUT")
def followers_wait_their_time_out(done: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """Followers do not fetch a record before its deadline if the topic before was quiet."""
    del seen
    if isinstance(answer, ProduceResponse) and done.quiet_before and done.produced > 1:
        _refuse(answer, ErrorCode.REQUEST_TIMED_OUT)


@answers("REPL-026", r"acks=all: error is REQUEST_TIMED_OUT")
def large_records_are_never_fetched(asked: ProduceRequest, answer: ProduceResponse) -> None:
    """Followers never fetch a record that is larger than a fetch, so acks=all times out."""
    if len(asked.topic_data[0].partition_data[0].records or b"") > LARGE:
        _refuse(answer, ErrorCode.REQUEST_TIMED_OUT)


class FencedBrokersAreAlwaysListed(FrameRule):
    """DescribeCluster lists the brokers that it has ever listed, whatever the request includes."""

    def __init__(self) -> None:
        self.known: dict[int, DescribeClusterResponse.DescribeClusterBroker] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_asked = seen.api is not None and seen.api.name == "DescribeCluster"
        return [edited(seen, payload, self._list)] if is_asked else [payload]

    def _list(self, seen: SeenRequest, answer: Message) -> None:
        del seen
        assert isinstance(answer, DescribeClusterResponse)
        self.known |= {each.broker_id: each for each in answer.brokers}
        answer.brokers = list(self.known.values())


DEFECTS = of_cluster(
    [
        half_of_four_are_too_few,
        the_last_one_keeps_nothing,
        the_first_new_record_is_lost,
        rule("BROK-005", r"not within .*: all brokers list \[1, 2\]", ListedForEver),
        rule("CONN-028", r"not within .*: all brokers list \[2, 3\]", DeadBrokersAreOffered),
        fewer_replicas_are_made,
        an_id_is_unregistered_twice,
        a_dead_broker_is_told_of_all_partitions,
        one_lost_leader_is_told_of_all_partitions,
        half_of_the_offsets_are_loaded,
        changed_field("OFFS-014", "heartbeats_fail_while_offsets_are_loaded",
            r"Heartbeat at broker \d, at first: error is COORDINATOR_LOAD_IN_PROGRESS",
            "A broker that does not coordinate the group yet answers a heartbeat as it loads.",
            HeartbeatResponse, "error_code",
            ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        rule("REPL-019", r"tells 19, told was 20", TheEndIsTakenBack),
        followers_wait_their_time_out,
        large_records_are_never_fetched,
        changed_field("META-041", "no_broker_is_marked_as_fenced", r"with fenced brokers: ",
            "DescribeCluster marks no broker as fenced.",
            DescribeClusterResponse, "brokers.is_fenced", True, False),
        rule("META-041", r"without fenced brokers: ", FencedBrokersAreAlwaysListed),
    ],
    private=True,
)  # fmt: skip

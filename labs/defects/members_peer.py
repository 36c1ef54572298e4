"""Defects of APIV, BROK, FETCH, ISR, RAFT, REPL, TOPIC: new brokers, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.codec.apis import api_named
from harness.codec.messages import (
    ApiVersionsResponse,
    MetadataResponse,
    UnregisterBrokerRequest,
)
from harness.codec.structs import Message
from labs.defects.replicas import (
    Answered,
    Replicas,
    told_to_consumers,
    told_to_others,
    told_to_replicas,
)

Api = ApiVersionsResponse.ApiVersion
VOTE = api_named("Vote")
UNREGISTERED = -1
"""The key of the broker that was unregistered, beside the ids of brokers."""


@told_to_others("APIV-010", r"the client's listener advertises \['Vote'\]")
def clients_may_vote(_: Replicas, __: Message, answer: Message) -> None:
    """The broker advertises Vote at every listener."""
    if isinstance(answer, ApiVersionsResponse):
        told = [each for each in answer.api_keys if each.api_key != VOTE.key]
        answer.api_keys = [*told, Api(api_key=VOTE.key, min_version=0, max_version=0)]


@told_to_others("BROK-004", r"it is told to be at \('localhost', 9\), it has moved")
def a_broker_stays_where_it_was(done: Replicas, _: Message, answer: Message) -> None:
    """Metadata returns the first address of a broker for ever."""
    if isinstance(answer, MetadataResponse):
        for each in answer.brokers:
            each.port = done.epochs.setdefault(each.node_id, each.port)


def _partitions_of_topics(
    answer: Message, count: int
) -> Iterator[MetadataResponse.MetadataResponsePartition]:
    """The partitions of each topic of Metadata with this many of them; none in another answer."""
    if isinstance(answer, MetadataResponse):
        for topic in answer.topics:
            if len(topic.partitions) == count:
                yield from topic.partitions


@told_to_others("BROK-017", r"replicas are \{0: \((\d+), .*1: \(\1, .*\}, not")
def a_newcomer_leads_nothing(_: Replicas, __: Message, answer: Message) -> None:
    """Metadata names the older broker as the leader of two partitions, which a new one shares."""
    for each in _partitions_of_topics(answer, 2):
        each.leader_id = min(each.replica_nodes)


@told_to_others("META-007", r"replicas are \[\[\d+\], \[\d+\], \[\d+\]\], by default")
def auto_creation_makes_one_replica(_: Replicas, __: Message, answer: Message) -> None:
    """A topic of auto-creation has one replica, whatever default.replication.factor is."""
    for each in _partitions_of_topics(answer, 3):
        del each.replica_nodes[1:]


@told_to_others("TOPIC-004", r"partition 0 on .*: in the racks \['c', 'c', 'c'\]")
def racks_are_not_looked_at(_: Replicas, __: Message, answer: Message) -> None:
    """The controller places the replicas of six partitions on the newest brokers, in any rack."""
    if isinstance(answer, MetadataResponse):
        newest = sorted(each.node_id for each in answer.brokers)[-3:]
        for each in _partitions_of_topics(answer, 6):
            each.replica_nodes = list(newest)


@told_to_replicas("RAFT-001", r"the topic is made at the offsets \[\] of the metadata log")
def observers_are_given_the_beginning(_: Replicas, data: Answered) -> None:
    """A broker that fetches the metadata log receives only its first batch."""
    records = bytes(data.records or b"")
    if records:
        first_bytes = 12 + int.from_bytes(records[8:12])
        data.records = records[:first_bytes]


@told_to_others("ISR-016", r"leader and ISR are \(\d+, \(\d+, \d+, \d+\)\), not")
def an_unregistered_broker_stays_in_sync(done: Replicas, request: Message, answer: Message) -> None:
    """UnregisterBroker removes the broker, and Metadata returns it in the ISRs for ever."""
    if isinstance(request, UnregisterBrokerRequest):
        done.epochs[UNREGISTERED] = request.broker_id
    gone = done.epochs.get(UNREGISTERED)
    if isinstance(answer, MetadataResponse):
        for topic in answer.topics:
            for each in topic.partitions:
                if gone in each.replica_nodes and gone not in each.isr_nodes:
                    each.isr_nodes = [*each.isr_nodes, gone]


@told_to_others("ISR-017", r"leader and ISR are \(\d+, \(\d+, \d+, \d+\)\), not")
def all_replicas_of_a_new_topic_are_in_sync(_: Replicas, __: Message, answer: Message) -> None:
    """A new topic begins with all its replicas in sync, whether their brokers are alive or not."""
    if isinstance(answer, MetadataResponse):
        for topic in answer.topics:
            if [len(each.replica_nodes) for each in topic.partitions] == [3, 3]:
                for each in topic.partitions:
                    each.isr_nodes = list(each.replica_nodes)


@told_to_others("ISR-017", r"partition [12]: leader and ISR are \(\d+, \(\d+, \d+, \d+\)\), not")
def all_replicas_of_added_partitions_are_in_sync(_: Replicas, __: Message, answer: Message) -> None:
    """Added partitions begin with all their replicas in sync, whether these are alive or not."""
    if isinstance(answer, MetadataResponse):
        for topic in answer.topics:
            if [len(each.replica_nodes) for each in topic.partitions] == [3, 3, 3]:
                for each in topic.partitions:
                    each.isr_nodes = list(each.replica_nodes)


@told_to_consumers("FETCH-046", r"offset 4: sent to \d+, expected -1")
def any_follower_in_the_rack_is_right(done: Replicas, offset: int, data: Answered) -> None:
    """The leader sends a consumer to the follower in its rack that does not have the offset."""
    if (offset, done.r2) == (4, [0, 3]):
        data.preferred_read_replica = done.replicas[1]


@told_to_consumers("REPL-037", r"in the rack is no replica in sync: sent to \d+, expected -1")
def any_live_follower_in_the_rack_is_right(done: Replicas, offset: int, data: Answered) -> None:
    """The leader sends a consumer to the follower in its rack that is out of sync."""
    if offset <= 2 and (done.r2, done.r3) == ([0, 2], [0, 3]):
        data.preferred_read_replica = done.replicas[1]


@told_to_consumers("FETCH-064", r"has \d records, the other less: sent to \d+, expected \d+")
def the_first_follower_in_the_rack_is_right(done: Replicas, _: int, data: Answered) -> None:
    """The leader sends a consumer to the follower in its rack that is first by assignment."""
    if data.preferred_read_replica in done.replicas[1:]:
        data.preferred_read_replica = done.replicas[1]


DEFECTS = [
    the_first_follower_in_the_rack_is_right,
    any_live_follower_in_the_rack_is_right,
    an_unregistered_broker_stays_in_sync,
    all_replicas_of_added_partitions_are_in_sync,
    all_replicas_of_a_new_topic_are_in_sync,
    any_follower_in_the_rack_is_right,
    clients_may_vote,
    a_broker_stays_where_it_was,
    a_newcomer_leads_nothing,
    racks_are_not_looked_at,
    auto_creation_makes_one_replica,
    observers_are_given_the_beginning,
]

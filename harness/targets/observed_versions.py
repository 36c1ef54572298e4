"""The versions that a broker from before ApiVersions serves, observed by requests.

Kafka 0.8 and 0.9 do not report the versions that they serve, and a response alone proves nothing:
0.8 answers many versions that it does not know in the layout of version 0, 0.9 answers Produce and
Fetch of any version in the layout of version 1. So a response counts only if it decodes at the
requested version to the last byte and cannot be a response of an older version; ``told_by`` names
the proof:

- ``ANSWER``: the layout of the response is new at this version, and no older one reads the bytes.
- ``REQUEST``: the response's layout is that of the version before, the request's is not. A broker
  that read it as an older version would find other topics in it; the response names the requested
  one.
- ``SIGN``: both layouts are those of the version before, so the bytes prove nothing. It counts if
  that version of another API was observed with which Kafka changed the meaning: Fetch 2 (magic 1)
  came with Produce 2 (KIP-32), OffsetFetch 1 (offsets kept by Kafka) with the coordinator (0.8.2).

The requests cover the versions that Kafka served before 0.10, and the next versions, which must be
refused. No request changes anything at the broker, except that FindCoordinator lets it create its
own topic of offsets, as for any consumer. Requests between brokers (keys 4 to 7) are never sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved, ResponseTimeout
from harness.codec import CodecError
from harness.codec.apis import api_named
from harness.codec.header import decode_response
from harness.codec.messages import (
    DescribeGroupsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
    SyncGroupRequest,
)
from harness.codec.structs import Message, Request, Struct
from harness.targets.asking import ApiVersionRanges
from harness.targets.first_contact import CLIENT_ID

CORRELATION_ID = 1
NO_TOPIC = "kc-observed-topic-that-never-was"
NO_GROUP = "kc-observed-group-that-never-was"
NO_MEMBER = "kc-observed-member-that-never-was"
TOO_LONG = "x" * 32_000
"""Metadata of an offset that no broker stores (``offset.metadata.max.bytes``, 4096 by default)."""


class ToldBy(Enum):
    """The proof that a response is not one of an older version; see the module."""

    ANSWER = auto()
    REQUEST = auto()
    SIGN = auto()


@dataclass(frozen=True, slots=True, eq=False)
class VersionProbe:
    """One API at one version.

    ``topics``: what the answer must name, with partitions. ``sign``: the API and version that must
    be observed as well.
    """

    api: str
    version: int
    request: Request[Message]
    told_by: ToldBy = ToldBy.ANSWER
    sign: tuple[str, int] | None = None
    topics: list[tuple[str, list[int]]] | None = None


def observe_versions(address: Address, step_ms: int, timeout_ms: int) -> ApiVersionRanges:
    """api key -> (lowest, highest) version in a row that the broker was seen to serve.

    Each question has a connection of its own. The next is put when the last is answered, or after
    ``step_ms``; what is silent then is awaited all together, for ``timeout_ms``, so that the
    silence of 0.9 costs that once and not once for each question. What stays silent is asked a
    second time: a network thread of 0.9 that cannot read a request loses with it all others that
    came at the same moment (class Processor, up to 0.10.0).
    """
    asked = questions()
    heard = _hear(address, asked, step_ms, timeout_ms)
    silent = [each for each in asked if each not in heard]
    heard |= _hear(address, silent, step_ms, timeout_ms)
    served = {(each.api, each.version) for each, answer in heard.items() if answers(each, answer)}
    signs = {(each.api, each.version): each.sign for each in asked if each.sign}
    return _ranges({each for each in served if signs.get(each) in served | {None}})


def _hear(
    address: Address, asked: Sequence[VersionProbe], step_ms: int, timeout_ms: int
) -> dict[VersionProbe, bytes | None]:
    """The payload of each answer, None for a close; a question that met silence is not in it."""
    heard: dict[VersionProbe, bytes | None] = {}
    waiting: list[tuple[VersionProbe, Connection]] = []
    with ExitStack() as held:
        for question in asked:
            try:
                connection = held.enter_context(_put(address, question, timeout_ms))
                heard[question] = _listen(connection, step_ms)
            except BrokerMisbehaved:
                heard[question] = None
            except _Silent:
                waiting.append((question, connection))
        deadline = time.monotonic() + timeout_ms / 1000
        for question, connection in waiting:
            with suppress(_Silent):
                left_ms = max(0.0, (deadline - time.monotonic()) * 1000)
                heard[question] = _listen(connection, left_ms)
    return heard


class _Silent(Exception):
    """Nothing came yet."""


def _put(address: Address, question: VersionProbe, timeout_ms: int) -> Connection:
    """A connection on which the question was sent. Raises BrokerMisbehaved."""
    connection = Connection((address.host, address.port), CLIENT_ID, timeout_ms)
    try:
        connection.send(question.request, question.version, correlation_id=CORRELATION_ID)
    except BrokerMisbehaved:
        connection.close()
        raise
    return connection


def _listen(connection: Connection, for_ms: float) -> bytes | None:
    """The next frame; None for a close or what is no frame. Raises _Silent."""
    try:
        return connection.receive_frame(for_ms)
    except ResponseTimeout as problem:
        raise _Silent from problem
    except BrokerMisbehaved:
        return None


def _ranges(served: set[tuple[str, int]]) -> ApiVersionRanges:
    found: ApiVersionRanges = {}
    for name, version in sorted(served):
        key = api_named(name).key
        low, high = found.get(key, (version, version))
        if version <= high + 1:
            found[key] = (low, version)
    return dict(sorted(found.items()))


def answers(question: VersionProbe, payload: bytes | None) -> bool:
    """True if the payload proves that the broker serves the requested version; see the module."""
    answer = None if payload is None else _read(question.api, question.version, payload)
    if payload is None or answer is None:
        return False
    if question.topics and _topics_in(answer) != question.topics:
        return False
    if question.told_by is not ToldBy.ANSWER:
        return True
    older = range(api_named(question.api).valid_versions.lowest, question.version)
    return all(_read(question.api, version, payload) is None for version in older)


def _read(api: str, version: int, payload: bytes) -> Message | None:
    try:
        found, answer = decode_response(api_named(api), version, payload)
    except CodecError:
        return None
    return answer if found == CORRELATION_ID else None


def _topics_in(answer: Message) -> list[tuple[str, list[int]]]:
    """The topics of an answer about partitions, each with its partitions."""
    topics = _first_of(answer, "responses", "topics")
    return [
        (
            _first_of(topic, "name", "topic"),
            [
                _first_of(partition, "index", "partition_index")
                for partition in _first_of(topic, "partition_responses", "partitions")
            ],
        )
        for topic in topics
    ]


def _first_of(struct: Struct, *names: str) -> Any:
    """The first of these fields that the struct has."""
    return next(getattr(struct, name) for name in names if hasattr(struct, name))


# -- the questions ---------------------------------------------------------------------------------


def questions() -> list[VersionProbe]:
    """All that is asked, older versions first."""
    return [*_about_partitions(), *_about_groups(), *_about_the_cluster()]


def _about_partitions() -> Iterator[VersionProbe]:
    produce_2, coordinator, ours = ("Produce", 2), ("FindCoordinator", 0), [(NO_TOPIC, [0])]
    for api, version, make, told_by, sign in (
        ("Produce", 0, _produce, ToldBy.ANSWER, None),
        ("Produce", 1, _produce, ToldBy.ANSWER, None),
        ("Produce", 2, _produce, ToldBy.ANSWER, None),
        ("Fetch", 0, _fetch, ToldBy.ANSWER, None),
        ("Fetch", 1, _fetch, ToldBy.ANSWER, None),
        ("Fetch", 2, _fetch, ToldBy.SIGN, produce_2),
        ("Fetch", 3, _fetch, ToldBy.REQUEST, None),
        ("ListOffsets", 0, _list_offsets, ToldBy.ANSWER, None),
        ("ListOffsets", 1, _list_offsets, ToldBy.ANSWER, None),
        ("OffsetCommit", 0, _offset_commit, ToldBy.ANSWER, None),
        ("OffsetCommit", 1, _offset_commit, ToldBy.REQUEST, None),
        ("OffsetCommit", 2, _offset_commit, ToldBy.REQUEST, None),
        ("OffsetFetch", 0, _offset_fetch, ToldBy.ANSWER, None),
        ("OffsetFetch", 1, _offset_fetch, ToldBy.SIGN, coordinator),
    ):
        yield VersionProbe(api, version, make(), told_by, sign, ours)


def _about_groups() -> Iterator[VersionProbe]:
    """0.8.2 has an early form of JoinGroup, and a Heartbeat that agrees with everything."""
    for name, make in _GROUP_REQUESTS.items():
        if name == "JoinGroup":
            yield VersionProbe(name, 0, make())
        else:
            yield VersionProbe(name, 0, make(), ToldBy.SIGN, ("JoinGroup", 0))


def _about_the_cluster() -> Iterator[VersionProbe]:
    for version, everything in ((0, []), (1, None)):
        yield VersionProbe("Metadata", version, MetadataRequest(topics=everything))
        yield VersionProbe("FindCoordinator", version, FindCoordinatorRequest(key=NO_GROUP))


def _produce() -> ProduceRequest:
    partition = ProduceRequest.PartitionProduceData(index=0, records=b"")
    topic = ProduceRequest.TopicProduceData(name=NO_TOPIC, partition_data=[partition])
    return ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])


def _fetch() -> FetchRequest:
    partition = FetchRequest.FetchPartition(partition=0, partition_max_bytes=1)
    topic = FetchRequest.FetchTopic(topic=NO_TOPIC, partitions=[partition])
    return FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic])


def _list_offsets() -> ListOffsetsRequest:
    partition = ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    topic = ListOffsetsRequest.ListOffsetsTopic(name=NO_TOPIC, partitions=[partition])
    return ListOffsetsRequest(replica_id=-1, topics=[topic])


def _offset_commit() -> OffsetCommitRequest:
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=0, committed_metadata=TOO_LONG
    )
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name=NO_TOPIC, partitions=[partition])
    return OffsetCommitRequest(group_id=NO_GROUP, topics=[topic])


def _offset_fetch() -> OffsetFetchRequest:
    topic = OffsetFetchRequest.OffsetFetchRequestTopic(name=NO_TOPIC, partition_indexes=[0])
    return OffsetFetchRequest(group_id=NO_GROUP, topics=[topic])


def _join_group() -> JoinGroupRequest:
    """As a member that there is not, of a group that there is not: refused with any release."""
    return JoinGroupRequest(
        group_id=NO_GROUP, session_timeout_ms=10_000, member_id=NO_MEMBER, protocol_type="consumer"
    )


_GROUP_REQUESTS: dict[str, Callable[[], Request[Message]]] = {
    "JoinGroup": _join_group,
    "Heartbeat": lambda: HeartbeatRequest(group_id=NO_GROUP, member_id=NO_MEMBER),
    "LeaveGroup": lambda: LeaveGroupRequest(group_id=NO_GROUP, member_id=NO_MEMBER),
    "SyncGroup": lambda: SyncGroupRequest(group_id=NO_GROUP, member_id=NO_MEMBER),
    "DescribeGroups": lambda: DescribeGroupsRequest(groups=[NO_GROUP]),
    "ListGroups": ListGroupsRequest,
}

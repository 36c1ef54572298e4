"""Frames in the form in which a proxy shows them to rules, and a rule set with a stopped clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import (
    FetchRequest,
    FetchResponse,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies.event import Event
from harness.proxies.rules import Rule, RuleSet
from harness.proxies.seen import NOWHERE, SeenConnection, SeenRequest, SeenResponse
from harness.proxies.step import Send, SendBack, Step

ORDERS_ID = UUID(int=77)


def request(
    message: Message,
    version: int,
    *,
    ordinal: int = 0,
    correlation_id: int = 1,
    client_id: str = "tests",
    place: SeenConnection = NOWHERE,
) -> SeenRequest:
    payload = encode_request(message, version, correlation_id, client_id)
    return SeenRequest(payload, ordinal, place=place)


def response(seen: SeenRequest, message: Message, *, ordinal: int | None = None) -> SeenResponse:
    """The answer to a request; at the same place in the stream without an ordinal."""
    assert seen.header is not None
    payload = encode_response(message, seen.version, seen.header.correlation_id)
    return SeenResponse(payload, seen, seen.ordinal if ordinal is None else ordinal)


def produce(
    topic: str = "orders",
    partitions: Sequence[int] = (0,),
    *,
    acks: int = -1,
    transactional_id: str | None = None,
) -> ProduceRequest:
    data = [
        ProduceRequest.PartitionProduceData(index=index, records=b"some records")
        for index in partitions
    ]
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        transactional_id=transactional_id,
        topic_data=[ProduceRequest.TopicProduceData(name=topic, partition_data=data)],
    )


def produced(topic: str = "orders", error_code: int = 0, partition: int = 0) -> ProduceResponse:
    one = ProduceResponse.PartitionProduceResponse(
        index=partition, error_code=error_code, base_offset=40
    )
    topics = [ProduceResponse.TopicProduceResponse(name=topic, partition_responses=[one])]
    return ProduceResponse(responses=topics)


def fetch(topic: str = "orders", partition: int = 0) -> FetchRequest:
    one = FetchRequest.FetchPartition(partition=partition)
    return FetchRequest(topics=[FetchRequest.FetchTopic(topic=topic, partitions=[one])])


def fetch_by_id(topic_id: UUID, partition: int = 0) -> FetchRequest:
    one = FetchRequest.FetchPartition(partition=partition)
    return FetchRequest(topics=[FetchRequest.FetchTopic(topic_id=topic_id, partitions=[one])])


def fetched(topic: str = "orders", partitions: int = 1) -> FetchResponse:
    data = [
        FetchResponse.PartitionData(partition_index=index, high_watermark=10 * (index + 1))
        for index in range(partitions)
    ]
    topics = [FetchResponse.FetchableTopicResponse(topic=topic, partitions=data)]
    return FetchResponse(responses=topics)


def metadata(topic: str = "orders", topic_id: UUID = ORDERS_ID) -> MetadataResponse:
    found = MetadataResponse.MetadataResponseTopic(name=topic, topic_id=topic_id)
    return MetadataResponse(topics=[found])


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Rules:
    """A rule set, its clock, and its events."""

    clock: Clock
    events: list[Event]
    set: RuleSet

    def fires(self, seen: SeenRequest | SeenResponse) -> bool:
        """True if the rules do not let the frame go on unchanged."""
        return self.show(seen) is not None

    def show(self, seen: SeenRequest | SeenResponse) -> Sequence[Step] | None:
        if isinstance(seen, SeenRequest):
            return self.set.request(seen)
        return self.set.response(seen)

    @property
    def told(self) -> list[tuple[str, str | None]]:
        return [(event.what, event.rule) for event in self.events]


def armed(*rules: Rule, seed: int = 0) -> Rules:
    clock, events = Clock(), list[Event]()
    return Rules(clock, events, RuleSet(*rules, seed=seed, now_ms=clock, tell=events.append))


def sent(steps: Sequence[Step] | None) -> list[bytes]:
    """The payloads of the frames that go on; their lengths must be right."""
    assert steps is not None
    payloads = []
    for step in steps:
        assert isinstance(step, Send | SendBack), step
        payloads.append(step.data[4:])
        assert frame(payloads[-1]) == step.data
    return payloads


@dataclass
class Stream:
    """Requests of one connection, each with the next ordinal."""

    place: SeenConnection = NOWHERE
    count: int = field(default=0)

    def request(self, message: Message, version: int, client_id: str = "tests") -> SeenRequest:
        made = request(
            message,
            version,
            ordinal=self.count,
            correlation_id=100 + self.count,
            client_id=client_id,
            place=self.place,
        )
        self.count += 1
        return made

"""Fetch and Produce messages, encoded and decoded by us and by kafka-python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka.protocol.consumer import fetch as their_fetch
from kafka.protocol.producer import produce as their_produce

from bench.ratio import Case
from harness.codec import decode, encode
from harness.codec.messages import FetchRequest, FetchResponse, ProduceRequest, ProduceResponse
from harness.codec.structs import Message

TOPICS = [f"topic-{number}" for number in range(10)]
PARTITIONS = range(10)
RECORDS = bytes(1024)


def cases() -> Iterator[Case]:
    """Each message at its last version before the flexible ones, and at the first flexible one."""
    made: list[tuple[str, Message, Any, int]] = [
        ("fetch", _fetch_request(), their_fetch.FetchRequest, 12),
        ("fetch", _fetch_response(), their_fetch.FetchResponse, 12),
        ("produce", _produce_request(), their_produce.ProduceRequest, 9),
        ("produce", _produce_response(), their_produce.ProduceResponse, 9),
    ]
    for group, message, peer, flexible in made:
        for version in (flexible - 1, flexible):
            yield from _both_ways(group, message, peer, version)


def _both_ways(group: str, message: Message, peer: Any, version: int) -> Iterator[Case]:
    cls, raw = type(message), encode(message, version)
    theirs = peer.decode(raw, version=version)
    theirs._header = None  # decode leaves it out, encode wants it
    if bytes(theirs.encode(version=version)) != raw or decode(cls, version, raw) != message:
        raise RuntimeError(f"{cls.__name__} v{version}: the two sides do not do the same work")
    name = f"{cls.__name__} v{version}"
    yield Case(
        group,
        f"encode {name}",
        lambda: encode(message, version),
        lambda: theirs.encode(version=version),
    )
    yield Case(
        group,
        f"decode {name}",
        lambda: decode(cls, version, raw),
        lambda: peer.decode(raw, version=version),
    )


def _fetch_request() -> FetchRequest:
    partitions = [
        FetchRequest.FetchPartition(partition=index, fetch_offset=5, partition_max_bytes=1 << 20)
        for index in PARTITIONS
    ]
    topics = [FetchRequest.FetchTopic(topic=name, partitions=partitions) for name in TOPICS]
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=topics)


def _fetch_response() -> FetchResponse:
    partitions = [
        FetchResponse.PartitionData(
            partition_index=index, high_watermark=9, aborted_transactions=[], records=RECORDS
        )
        for index in PARTITIONS
    ]
    return FetchResponse(
        responses=[
            FetchResponse.FetchableTopicResponse(topic=name, partitions=partitions)
            for name in TOPICS
        ]
    )


def _produce_request() -> ProduceRequest:
    partitions = [
        ProduceRequest.PartitionProduceData(index=index, records=RECORDS) for index in PARTITIONS
    ]
    topics = [
        ProduceRequest.TopicProduceData(name=name, partition_data=partitions) for name in TOPICS
    ]
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)


def _produce_response() -> ProduceResponse:
    partitions = [
        ProduceResponse.PartitionProduceResponse(index=index, base_offset=7) for index in PARTITIONS
    ]
    return ProduceResponse(
        responses=[
            ProduceResponse.TopicProduceResponse(name=name, partition_responses=partitions)
            for name in TOPICS
        ]
    )

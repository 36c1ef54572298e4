"""The frames that client and server send each other: real requests, real answers."""

from __future__ import annotations

from collections.abc import Callable

from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import FetchRequest, FetchResponse, ProduceRequest
from harness.codec.structs import Message

PING_BYTES = 1024
REQUEST_BYTES = 64 * 1024
ANSWER_BYTES = 1024 * 1024
FETCH_VERSION = 17  # its answer may hold addresses: rewriting must read all of it
PRODUCE_VERSION = 12


def fetch_of(size: int) -> bytes:
    """A fetch of a consumer."""
    return _of_size(_fetch, size)


def ping() -> bytes:
    """The same, of 1 KiB."""
    return fetch_of(PING_BYTES)


def pong(size: int = PING_BYTES) -> bytes:
    """The answer to it."""
    return _of_size(_fetched, size)


def bulk_request() -> bytes:
    """Return a producer's request without a response (acks=0)."""
    return _of_size(_produce, REQUEST_BYTES)


def _of_size(make: Callable[[int], bytes], size: int) -> bytes:
    spare = size - len(make(size))  # a length may take more bytes when it is large
    whole = make(size + spare)
    assert len(whole) == size, f"{len(whole)} bytes instead of {size}"
    return whole


def _fetch(spare: int) -> bytes:
    topic = FetchRequest.FetchTopic(partitions=[FetchRequest.FetchPartition()])
    return _request(FetchRequest(topics=[topic], rack_id="r" * spare), FETCH_VERSION)


def _fetched(spare: int) -> bytes:
    one = FetchResponse.PartitionData(records=bytes(spare))
    topic = FetchResponse.FetchableTopicResponse(partitions=[one])
    return frame(encode_response(FetchResponse(responses=[topic]), FETCH_VERSION, 1))


def _produce(spare: int) -> bytes:
    one = ProduceRequest.PartitionProduceData(records=bytes(spare))
    topic = ProduceRequest.TopicProduceData(name="t", partition_data=[one])
    return _request(ProduceRequest(acks=0, topic_data=[topic]), PRODUCE_VERSION)


def _request(message: Message, version: int) -> bytes:
    return frame(encode_request(message, version, 1, "bench"))

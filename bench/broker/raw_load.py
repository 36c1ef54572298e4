"""Requests over sockets of ours: pipelined, or one after the other."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ApiVersionsRequest, MetadataRequest, ProduceRequest
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.structs import Message

IN_FLIGHT = 16
LIMIT_S = 60
TOPIC = "bench"


def api_versions() -> bytes:
    return _framed(ApiVersionsRequest(), 0)


def metadata() -> bytes:
    """Of one topic, as clients ask again and again."""
    topic = MetadataRequest.MetadataRequestTopic(name=TOPIC)
    return _framed(MetadataRequest(topics=[topic], allow_auto_topic_creation=False), 8)


def produce_of_100_bytes() -> bytes:
    """One record of 100 bytes, acknowledged by the leader."""
    records = encode_batch(RecordBatch(records=[Record(value=bytes(100))]))
    data = ProduceRequest.PartitionProduceData(index=0, records=records)
    topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
    return _framed(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic]), 7)


def _framed(message: Message, version: int) -> bytes:
    return frame(encode_request(message, version, 1, "bench"))


def rate(make: Callable[[], bytes], in_flight: int, count: int, address: tuple[str, int]) -> float:
    """Requests a second; ``in_flight`` are sent before the first answer is read."""
    request = make()
    with socket.create_connection(address, LIMIT_S) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = sock.makefile("rb", 1 << 18)
        _ask(sock, request, 1)
        _read(stream)
        began = time.perf_counter()
        _ask(sock, request, in_flight)
        for done in range(count):
            _read(stream)
            if done + in_flight < count:
                _ask(sock, request, 1)
        return count / (time.perf_counter() - began)


def _ask(sock: socket.socket, request: bytes, times: int) -> None:
    sock.sendall(request * times)


def _read(stream: object) -> None:
    read: Callable[[int], bytes] = stream.read  # type: ignore[attr-defined]
    head = read(4)
    if len(head) < 4:
        raise ConnectionError("closed, and an answer was to come")
    (length,) = struct.unpack(">i", head)
    read(length)

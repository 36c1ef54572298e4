"""A broker from before ApiVersions, in a thread: it answers the old versions of a few APIs.

``habit``: its reaction to all else. ``close`` as Kafka 0.8 does with a key that it does not
know, ``silence`` as 0.9, which neither answers nor closes. With ``careless`` it answers a version
above those that it serves in its highest layout, as 0.8 does.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from harness.base.address import Address
from harness.codec import CodecError, decode
from harness.codec.apis import APIS
from harness.codec.frame import frame
from harness.codec.header import RequestRefused, decode_request_header, encode_response
from harness.codec.messages import (
    FetchRequest,
    FetchResponse,
    FindCoordinatorResponse,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.structs import Message
from tests.client.scripted import Peer

CLOSE, SILENCE = "close", "silence"


@dataclass
class OldBroker:
    """``versions``: api key -> highest version; ``asked`` grows by (key, version)."""

    versions: dict[int, int]
    habit: str = CLOSE
    careless: bool = False
    asked: list[tuple[int, int]] = field(default_factory=list)

    def serve(self, peer: Peer) -> None:
        while True:
            payload = peer.read_frame()
            try:
                header, start = decode_request_header(payload)
            except RequestRefused as problem:
                header, start = problem.header, 0
            key, version = header.request_api_key, header.request_api_version
            self.asked.append((key, version))
            answer = self._answer(key, version, payload[start:])
            if answer is not None:
                layout = min(version, self.versions[key])
                peer.send(frame(encode_response(answer, layout, header.correlation_id)))
            elif self.habit == CLOSE:
                return

    def _answer(self, key: int, version: int, body: bytes) -> Message | None:
        highest = self.versions.get(key, -1)
        if version > highest and not (self.careless and highest >= 0):
            return None
        try:
            request = decode(APIS[key].request, min(version, highest), body)
        except CodecError:
            return None
        return _ANSWERS[key](request)


def _metadata(_request: Message) -> MetadataResponse:
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="127.0.0.1", port=1)
    topic = MetadataResponse.MetadataResponseTopic(name="theirs")
    return MetadataResponse(brokers=[broker], topics=[topic])


def _produce(request: Message) -> ProduceResponse:
    assert isinstance(request, ProduceRequest)
    return ProduceResponse(
        responses=[
            ProduceResponse.TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    ProduceResponse.PartitionProduceResponse(index=each.index, error_code=3)
                    for each in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )


def _fetch(request: Message) -> FetchResponse:
    assert isinstance(request, FetchRequest)
    return FetchResponse(
        responses=[
            FetchResponse.FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    FetchResponse.PartitionData(
                        partition_index=each.partition, error_code=3, records=b""
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _find_coordinator(_request: Message) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(error_code=15, node_id=-1, port=-1)


_ANSWERS: dict[int, Callable[[Message], Message]] = {
    0: _produce,
    1: _fetch,
    3: _metadata,
    10: _find_coordinator,
}


@contextmanager
def listening(broker: OldBroker) -> Iterator[Address]:
    """Serve any number of connections, until the end."""
    held: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        try:
            broker.serve(Peer(connection))
        except (EOFError, OSError):
            pass
        finally:
            connection.close()

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            held.append(connection)
            threads.append(threading.Thread(target=serve, args=(connection,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield Address(*server.getsockname())
        finally:
            server.shutdown(socket.SHUT_RDWR)
            acceptor.join()
            for connection in held:
                with suppress(OSError):  # its thread may be closing it
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()

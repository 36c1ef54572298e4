"""Grants apply to every request, however its bytes reach the wire."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.client.connection import Connection
from harness.client.grants import FrameGate, Grants, NotGranted
from harness.codec.apis import APIS, api_named
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    MetadataRequest,
    StopReplicaRequest,
)
from harness.codec.structs import Message, Request

STOP = encode_request(StopReplicaRequest(controller_id=1, controller_epoch=0), 4, 1)
HEALTHY = encode_request(ApiVersionsRequest(), 0, 2)
NO_STOP = Grants({api_named("StopReplica").key: "own_broker"})
NO_TOPICS = Grants(create_topics=False)


def test_api_without_grant_raises_not_granted() -> None:
    NO_STOP.check(HEALTHY)
    with pytest.raises(NotGranted, match=r"StopReplica is not sent .* lacks own_broker") as caught:
        NO_STOP.check(STOP)
    assert caught.value.capability == "own_broker"


def test_everything_is_granted_by_default() -> None:
    assert Grants().everything
    assert not NO_STOP.everything
    assert not NO_TOPICS.everything
    Grants().check(STOP)


@pytest.mark.parametrize("cut", range(1, len(STOP) + 4))
def test_refused_request_in_two_pieces_is_blocked_before_completion(cut: int) -> None:
    """In two pieces: the second one, which would complete it, is held back."""
    data = frame(HEALTHY) + frame(STOP)
    gate = FrameGate(NO_STOP)
    gate.check(data[: len(HEALTHY) + 4 + cut - 1])
    with pytest.raises(NotGranted):
        gate.check(data[len(HEALTHY) + 4 + cut - 1 :])


def test_invalid_lengths_and_unknown_api_keys_are_not_refused() -> None:
    gate = FrameGate(NO_TOPICS)
    gate.check(b"\xff\xff\xff\xff" + frame(HEALTHY) + b"\x7f\xff\xff\xff" + bytes(100))
    NO_STOP.check((max(APIS) + 1).to_bytes(2, "big") + bytes(8))
    NO_STOP.check(b"\xff\xff" + bytes(8))
    NO_STOP.check(b"\x12")


def _create(*, validate_only: bool = False, count: int = 1) -> CreateTopicsRequest:
    topics = [CreateTopicsRequest.CreatableTopic(name="a", num_partitions=1)] * count
    return CreateTopicsRequest(topics=topics, validate_only=validate_only)


def _metadata(*names: str, auto_create: bool) -> MetadataRequest:
    topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=auto_create)


CREATES: dict[str, tuple[Request[Message], int, bool]] = {
    "a topic": (_create(), 5, True),
    "only validated": (_create(validate_only=True), 5, False),
    "none": (_create(count=0), 0, False),
    "Metadata that may create": (_metadata("a", auto_create=True), 9, True),
    "Metadata that may not": (_metadata("a", auto_create=False), 9, False),
    "Metadata of old": (_metadata("a", auto_create=True), 3, True),
    "Metadata of no topic": (_metadata(auto_create=True), 9, False),
    "Metadata of all topics": (MetadataRequest(topics=None), 9, False),
}


@pytest.mark.parametrize("name", CREATES)
def test_requests_that_may_create_topics_need_grant(name: str) -> None:
    message, version, creates = CREATES[name]
    payload = encode_request(message, version, 1)
    Grants().check(payload)
    if not creates:
        NO_TOPICS.check(payload)
        return
    with pytest.raises(NotGranted, match="could create topics") as caught:
        NO_TOPICS.check(payload)
    assert caught.value.capability == "create_topics"


def test_undecodable_create_topics_is_refused_without_grant() -> None:
    with pytest.raises(NotGranted):
        NO_TOPICS.check(encode_request(_create(), 5, 1)[:-3])


@contextmanager
def sink() -> Iterator[tuple[tuple[str, int], bytearray]]:
    """Somewhere to send to, and what came."""
    came = bytearray()

    def read() -> None:
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(4096):
                came.extend(data)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=read)
        thread.start()
        try:
            yield server.getsockname(), came
        finally:
            thread.join()


def test_refused_request_sends_no_bytes() -> None:
    with sink() as (address, came):
        with Connection(address, grants=NO_STOP) as connection:
            connection.send(ApiVersionsRequest(), 0)
            for send in (
                lambda: connection.send(StopReplicaRequest(), 4),
                lambda: connection.send_frame(STOP),
                lambda: connection.send_bytes(frame(STOP)),
            ):
                with pytest.raises(NotGranted):
                    send()
            assert "own_broker" not in connection.transcript.render()
    assert bytes(came) == frame(encode_request(ApiVersionsRequest(), 0, 1))

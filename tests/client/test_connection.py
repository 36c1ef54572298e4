"""The raw connection against a scripted peer."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from harness.client import (
    BrokerMisbehaved,
    Connection,
    ConnectionClosed,
    ResponseTimeout,
    WireViolation,
)
from harness.client import connection as connection_module
from harness.client.connection import FRAME_LIMIT_BYTES
from harness.codec.apis import api_named
from harness.codec.frame import frame
from harness.codec.header import encode_response
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
)
from labs.hang_limit import HANGS_AFTER_S
from tests.client.scripted import Peer, scripted

SHORT_MS = 150
ANSWER = frame(encode_response(MetadataResponse(controller_id=5), 1, 1))


def test_request_returns_decoded_response() -> None:
    asked = []

    def script(peer: Peer) -> None:
        correlation_id, body = peer.read_request()
        asked.append(body)
        peer.answer(MetadataResponse(controller_id=5), 1, correlation_id)

    with scripted(script) as address, Connection(address) as connection:
        answer = connection.ask(MetadataRequest(topics=None), 1)
        assert answer.controller_id == 5
        connection.expect_closed()
    assert asked == [MetadataRequest(topics=None)]


def test_pipelined_responses_are_matched_in_order_by_api_and_version() -> None:
    def script(peer: Peer) -> None:
        first, second, third = (peer.read_request()[0] for _ in range(3))
        assert [first, second, third] == [1, 77, 2]
        peer.answer(MetadataResponse(controller_id=1), 1, first)
        peer.answer(ApiVersionsResponse(throttle_time_ms=2), 3, second)
        peer.answer(MetadataResponse(throttle_time_ms=3), 9, third)

    with scripted(script) as address, Connection(address) as connection:
        assert connection.send(MetadataRequest(), 1) == 1
        assert connection.send(ApiVersionsRequest(), 3, correlation_id=77) == 77
        assert connection.send(MetadataRequest(), 9) == 2
        assert connection.receive() == MetadataResponse(controller_id=1)
        assert connection.receive() == ApiVersionsResponse(throttle_time_ms=2)
        assert connection.receive() == MetadataResponse(throttle_time_ms=3)
        with pytest.raises(LookupError, match="no request is waiting"):
            connection.receive()


def test_responses_are_read_from_merged_and_single_byte_pieces() -> None:
    one, two = (frame(encode_response(MetadataResponse(controller_id=n), 1, n)) for n in (1, 2))

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.read_request()
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.send(one + two[:1])
        for byte in two[1:]:
            peer.send(bytes([byte]))

    with scripted(script) as address, Connection(address) as connection:
        connection.send(MetadataRequest(), 1)
        connection.send(MetadataRequest(), 1)
        assert [connection.receive() for _ in range(2)] == [
            MetadataResponse(controller_id=1),
            MetadataResponse(controller_id=2),
        ]


def test_sent_headers_frames_and_raw_bytes_arrive_unchanged() -> None:
    read = []
    with scripted(lambda peer: read.append(peer.read_to_end())) as address:
        with Connection(address, "me") as connection:
            connection.send(MetadataRequest(topics=[]), 1, correlation_id=-1)
            connection.send(MetadataRequest(topics=[]), 1, client_id=None)
            connection.send(MetadataRequest(topics=[]), 9, client_id="x", header_tags={9: b"t"})
            connection.send_frame(b"junk")
            connection.send_bytes(b"\xff\xff")
    assert read[0] == (
        frame(bytes.fromhex("0003 0001 ffffffff 0002 6d65 00000000"))
        + frame(bytes.fromhex("0003 0001 00000001 ffff 00000000"))
        + frame(bytes.fromhex("0003 0009 00000002 0001 78 01090174 01 01 00 00 00"))
        + frame(b"junk")
        + b"\xff\xff"
    )


def refusing(answer: bytes) -> Callable[[Peer], None]:
    """A peer that reads one request and sends these bytes."""

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(answer)
        peer.read_to_end()

    return script


def ask_and_fail(script: Callable[[Peer], None], timeout_ms: float = 5000) -> BrokerMisbehaved:
    with scripted(script) as address, Connection(address, timeout_ms=timeout_ms) as connection:
        with pytest.raises(BrokerMisbehaved) as caught:
            connection.ask(MetadataRequest(), 1)
        assert "connected" in connection.transcript.render()
    return caught.value


VIOLATIONS = {
    "another correlation id": (
        frame(encode_response(MetadataResponse(), 1, 2)),
        "answer with correlation id 2; 1 is the oldest open request",
    ),
    "a field is cut": (frame(ANSWER[4:-1]), "Metadata v1 answer: MetadataResponse v1: topics at"),
    "nothing but a header": (frame(b"\0\0\0\1"), "MetadataResponse v1: brokers at byte 4"),
    "an empty frame": (frame(b""), "ResponseHeader v0: correlation_id at byte 0"),
    "bytes left over": (frame(ANSWER[4:] + b"\0"), "1 bytes left over"),
    "a negative length": (b"\xff\xff\xff\xff", "a frame of length -1"),
    "a huge length": (
        struct.pack(">i", FRAME_LIMIT_BYTES + 1),
        f"a frame of length {FRAME_LIMIT_BYTES + 1}",
    ),
}


@pytest.mark.parametrize("what", VIOLATIONS)
def test_malformed_response_raises_wire_violation(what: str) -> None:
    answer, said = VIOLATIONS[what]
    error = ask_and_fail(refusing(answer))
    assert isinstance(error, WireViolation)
    assert said in str(error)


@pytest.mark.parametrize("size", [0, 2, 4, len(ANSWER) - 1])
def test_close_within_response_raises_connection_closed(size: int) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(ANSWER[:size])

    error = ask_and_fail(script)
    assert isinstance(error, ConnectionClosed)
    assert str(error).startswith("the broker closed the connection")
    assert (f"({size} bytes of an answer came)" in str(error)) is (size > 0)


def test_reset_by_peer_raises_connection_closed() -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        peer.reset()

    assert isinstance(ask_and_fail(script), ConnectionClosed)


@pytest.mark.parametrize("size", [0, 2, 10])
def test_missing_response_raises_timeout_at_deadline(size: int) -> None:
    began = time.monotonic()
    error = ask_and_fail(refusing(ANSWER[:size]), SHORT_MS)
    assert isinstance(error, ResponseTimeout)
    assert time.monotonic() - began >= SHORT_MS / 1000
    assert (f"({size} bytes of an answer came)" in str(error)) is (size > 0)


def test_trickling_bytes_do_not_extend_deadline() -> None:
    """One deadline for the whole answer, not one for each piece."""
    over = threading.Event()

    def script(peer: Peer) -> None:
        peer.read_request()
        for byte in ANSWER[:-1]:
            peer.send(bytes([byte]))
            if over.wait(SHORT_MS / 1000 / 4):
                break

    with scripted(script) as address, Connection(address) as connection:
        connection.send(MetadataRequest(), 1)
        with pytest.raises(ResponseTimeout):
            connection.receive(SHORT_MS)
        over.set()


def test_response_can_be_received_after_timeout() -> None:
    go_on = threading.Event()

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(ANSWER[:10])
        assert go_on.wait(HANGS_AFTER_S)
        peer.send(ANSWER[10:])

    with scripted(script) as address, Connection(address) as connection:
        connection.send(MetadataRequest(), 1)
        with pytest.raises(ResponseTimeout):
            connection.receive(SHORT_MS)
        go_on.set()
        assert connection.receive() == MetadataResponse(controller_id=5)


def test_send_to_peer_that_does_not_read_raises_timeout() -> None:
    done = threading.Event()
    with scripted(lambda peer: done.wait(HANGS_AFTER_S)) as address:
        with Connection(address, timeout_ms=SHORT_MS) as connection:
            with pytest.raises(ResponseTimeout, match="does not read what we send"):
                connection.send_bytes(bytes(100 << 20))
        done.set()


def reset_after_a_byte(peer: Peer) -> None:
    """Not at once: that would race with the client's connect."""
    peer.read_exactly(1)
    peer.reset()


def test_send_after_reset_raises_connection_closed() -> None:
    with scripted(reset_after_a_byte) as address, Connection(address) as connection:
        connection.send_bytes(b"x")
        connection.expect_closed()
        with pytest.raises(ConnectionClosed):
            connection.send_bytes(b"x")


def test_connect_to_closed_port_raises_connection_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    with pytest.raises(ConnectionClosed, match=f"cannot connect to 127.0.0.1:{address[1]}"):
        Connection(address)


def test_use_after_own_close_raises_value_error() -> None:
    with scripted(lambda peer: peer.read_to_end()) as address:
        connection = Connection(address)
        connection.close()
        connection.close()
        connection.expect_answer(api_named("Metadata"), 1, 1)
        uses: list[Callable[[], object]] = [
            lambda: connection.send(MetadataRequest(), 1),
            connection.receive,
            connection.expect_closed,
            lambda: connection.expect_silence(10),
        ]
        for use in uses:
            with pytest.raises(ValueError, match="closed on our side"):
                use()


def test_reset_by_client_reaches_peer() -> None:
    read: list[bytes] = []
    with scripted(lambda peer: read.append(peer.read_to_end())) as address:
        Connection(address).reset()
    assert read == [b"(reset)"]


def test_end_of_sending_reaches_peer_and_answer_still_comes() -> None:
    read: list[bytes] = []

    def script(peer: Peer) -> None:
        read.append(peer.read_to_end())
        peer.send(ANSWER)

    with scripted(script) as address, Connection(address) as connection:
        connection.send_bytes(b"last")
        connection.end_sending()
        assert connection.receive_frame() == ANSWER[4:]
    assert read == [b"last"]


# -- expect_closed and expect_silence ------------------------------------------------------------


def test_expect_closed_accepts_fin_and_reset() -> None:
    for script in (lambda peer: peer.read_exactly(1), reset_after_a_byte):
        with scripted(script) as address, Connection(address) as connection:
            connection.send_bytes(b"x")
            connection.expect_closed()
            assert "closed by the broker" in connection.transcript.render()


def test_expect_closed_on_open_connection_raises_timeout() -> None:
    with scripted(lambda peer: peer.read_to_end()) as address, Connection(address) as connection:
        with pytest.raises(ResponseTimeout, match="neither answered nor closed"):
            connection.expect_closed(SHORT_MS)


@pytest.mark.parametrize("expectation", ["closed", "silence"])
@pytest.mark.parametrize("waiting", [False, True])
def test_unexpected_bytes_raise_wire_violation(expectation: str, waiting: bool) -> None:
    """Also when they came together with an earlier answer, and wait in our buffer already."""

    def script(peer: Peer) -> None:
        peer.read_request()
        if waiting:
            peer.send(ANSWER + b"more")
        else:
            peer.send(ANSWER)
            assert peer.read_frame() == b"go on"
            peer.send(b"more")
        peer.read_to_end()

    with scripted(script) as address, Connection(address) as connection:
        connection.ask(MetadataRequest(), 1)
        if not waiting:
            connection.send_frame(b"go on")
        expect = connection.expect_closed if expectation == "closed" else connection.expect_silence
        with pytest.raises(WireViolation, match="bytes came where"):
            expect(5000)
        assert f"received instead of {'a close' if expectation == 'closed' else 'silence'}" in (
            connection.transcript.render()
        )


def test_expect_silence_waits_full_time_without_bytes() -> None:
    with scripted(lambda peer: peer.read_to_end()) as address, Connection(address) as connection:
        began = time.monotonic()
        connection.expect_silence(SHORT_MS)
        assert time.monotonic() - began >= SHORT_MS / 1000


def test_bytes_in_extended_silence_raise_wire_violation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bytes that arrive in the added time end the silence as well."""
    added = threading.Event()

    def script(peer: Peer) -> None:
        assert added.wait(HANGS_AFTER_S)
        peer.send(b"late")
        peer.read_to_end()

    def time_left(for_ms: float, _at_most_ms: float | None) -> Iterator[float]:
        yield for_ms
        added.set()
        yield HANGS_AFTER_S * 1000

    monkeypatch.setattr(connection_module, "time_left", time_left)
    with scripted(script) as address, Connection(address) as connection:
        try:
            with pytest.raises(WireViolation, match="4 bytes came where nothing was to be sent"):
                connection.expect_silence(SHORT_MS)
        finally:
            added.set()  # the peer ends also where nothing was added


def test_close_during_silence_raises_connection_closed() -> None:
    with scripted(lambda peer: None) as address, Connection(address) as connection:
        with pytest.raises(ConnectionClosed):
            connection.expect_silence(5000)


@pytest.mark.parametrize(("acks", "is_awaited"), [(0, False), (1, True)])
def test_produce_without_acks_awaits_no_answer(acks: int, is_awaited: bool) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        correlation_id, _ = peer.read_request()
        peer.answer(MetadataResponse(controller_id=5), 1, correlation_id)

    with scripted(script) as address, Connection(address) as connection:
        connection.send(ProduceRequest(acks=acks), 3)
        assert connection.awaits_answer is is_awaited
        if is_awaited:
            connection.forget_answer()
        assert connection.ask(MetadataRequest(), 1).controller_id == 5

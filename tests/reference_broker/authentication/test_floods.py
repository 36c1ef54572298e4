"""Floods of failed authentications: bounded memory, no connection left, and others are served."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from harness.client.connection import Connection
from harness.client.errors import ResponseTimeout
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest, MetadataResponse
from harness.security.settings import Mechanism, SecurityProtocol
from harness.targets.reference import ReferenceBroker
from harness.targets.run_security import WantedSecurity
from tests.reference_broker.authentication.conftest import Secured, settings_of
from tests.reference_broker.authentication.exchanges import authenticate, handshake
from tests.reference_broker.authentication.hostile_client import HostileClient

METADATA = frame(encode_request(MetadataRequest(topics=[]), 4, 7))
WRONG = frame(handshake("PLAIN")) + frame(authenticate(b"\0judge\0wrong"))
UNKNOWN = frame(handshake("SCRAM-SHA-256")) + frame(authenticate(b"n,,n=unknown,r=abc"))
LOGINS, AT_ONCE = 1_000, 100
DELAY_MS = 300
QUEUED_BYTES = 32_768
MIB = 1024 * 1024
MOST_READ_BYTES = 12 * MIB
"""More than the buffers of both sockets and of the connection hold."""
FLOOD_BYTES = 64 * MIB
MORE_BYTES = 24 * MIB
HELLO_OF_16_MIB = b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(0x4000 - 4)
RECORD = b"\x16\x03\x03\x40\x00" + bytes(0x4000)


@pytest.fixture(scope="module")
def unencrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A listener with SASL and without TLS, which answers failures late."""
    wanted = WantedSecurity(SecurityProtocol.SASL_PLAINTEXT, Mechanism.PLAIN)
    settings = {
        "connection.failed.authentication.delay.ms": f"{DELAY_MS}",
        "queued.max.request.bytes": f"{QUEUED_BYTES}",
        "socket.request.max.bytes": f"{QUEUED_BYTES}",
    }
    folder: Path = tmp_path_factory.mktemp("unencrypted")
    with ReferenceBroker(log_dir=folder, security=wanted, settings=settings) as target:
        yield Secured(target, settings_of(target))


def expect_served(secured: Secured) -> None:
    with Connection(secured.address) as connection:
        assert connection.ask(MetadataRequest(topics=[]), 4).brokers


def flood(client: HostileClient, piece: bytes) -> int:
    """Send until the broker reads nothing more, closes, or has read it all; return the bytes."""
    sent = 0
    client.socket.settimeout(DELAY_MS / 1000)
    with suppress(OSError):
        while sent < FLOOD_BYTES:
            sent += client.socket.send(piece)
    return sent


def test_a_thousand_failed_logins_leave_nothing(unencrypted: Secured) -> None:
    """Wrong passwords and unknown users, a hundred at once; each gets its error and the close."""
    process = psutil.Process(unencrypted.target.pid)
    expect_served(unencrypted)
    memory, descriptors = process.memory_info().rss, process.num_fds()
    for _ in range(LOGINS // AT_ONCE):
        with ExitStack() as stack:
            crowd = [
                stack.enter_context(HostileClient(unencrypted.address, None)).send(
                    (WRONG, UNKNOWN)[number % 2]
                )
                for number in range(AT_ONCE)
            ]
            expect_served(unencrypted)
            for client in crowd:
                assert client.read(), "no answer to SaslHandshake"
                failed = client.answer_to_token()
                assert failed is not None
                assert failed.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED, failed
                assert client.is_closed()
    expect_served(unencrypted)
    assert process.memory_info().rss - memory < MORE_BYTES
    assert process.num_fds() <= descriptors + 1


def test_what_follows_a_failed_login_is_not_read(unencrypted: Secured) -> None:
    process = psutil.Process(unencrypted.target.pid)
    memory = process.memory_info().rss
    with HostileClient(unencrypted.address, None) as client:
        client.send(WRONG)
        sent = flood(client, METADATA * 4_000)
        assert sent < MOST_READ_BYTES, f"{sent} bytes were taken"
        assert process.memory_info().rss - memory < MORE_BYTES
        expect_served(unencrypted)


def test_a_hello_that_is_too_long_is_not_awaited(secured: Secured) -> None:
    """A message of the handshake that says it has 16 MiB, and keeps coming."""
    process = psutil.Process(secured.target.pid)
    memory = process.memory_info().rss
    with HostileClient(secured.address, None) as client:
        client.send(HELLO_OF_16_MIB)
        assert flood(client, RECORD) < MOST_READ_BYTES
        assert process.memory_info().rss - memory < MORE_BYTES
    expect_served(secured)


def test_logins_that_reset_their_connection_leave_nothing(unencrypted: Secured) -> None:
    """While the answer to a wrong password waits, its client is gone."""
    process = psutil.Process(unencrypted.target.pid)
    expect_served(unencrypted)
    descriptors = process.num_fds()
    for _ in range(AT_ONCE):
        with HostileClient(unencrypted.address, None) as client:
            client.send(WRONG)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, *[0] * 7]))
    with HostileClient(unencrypted.address, None).send(WRONG) as last:
        assert last.read()
        assert last.read()
        assert last.is_closed()
    expect_served(unencrypted)
    assert process.num_fds() <= descriptors + 1


def test_a_login_needs_no_memory_of_requests(unencrypted: Secured) -> None:
    """A request without its last byte has all of it; the request behind the login waits."""
    request = MetadataRequest(topics=[])
    padding = "c" * (QUEUED_BYTES - len(encode_request(request, 4, 1, "")))
    whole = frame(encode_request(request, 4, 1, padding))
    with Connection(unencrypted.address) as first:
        first.send_bytes(whole[:-1])
        wait_until_taken(unencrypted)
        with Connection(unencrypted.address) as second:
            second.send(MetadataRequest(topics=[]), 4)
            second.expect_silence(DELAY_MS)
            first.send_bytes(whole[-1:])
            assert first.receive_frame()
            assert isinstance(answer := second.receive(), MetadataResponse)
            assert answer.brokers


def wait_until_taken(secured: Secured) -> None:
    """Wait until the broker has read a length, so that a request of another client waits."""
    for _ in range(LOGINS):
        with Connection(secured.address, timeout_ms=DELAY_MS) as connection:
            try:
                connection.ask(MetadataRequest(topics=[]), 4)
            except ResponseTimeout:
                return
    raise AssertionError("requests are served beside one that has all the memory")

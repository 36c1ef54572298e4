"""Floods of failed authentications: bounded memory, no connection left, and others are served."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest
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
    settings = {"connection.failed.authentication.delay.ms": f"{DELAY_MS}"}
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

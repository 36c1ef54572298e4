"""SASL: clients that want to get in without credentials, or to keep others out."""

from __future__ import annotations

from contextlib import suppress

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import PLAIN, SCRAM, Credentials
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import (
    credentials_of,
    enter,
    expect_refused,
    expect_served,
    following,
    send_token,
    shake_hands,
    unauthenticated,
)

NEGATIVE, MOST = b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"
FAILED_LOGINS, AT_ONCE = 200, 25


def _hostile_bytes(credentials: Credentials) -> dict[str, bytes]:
    """Bytes that are no request of Kafka, and have the place of one."""
    return {
        "a negative length": NEGATIVE,
        "a length of two gigabytes": MOST,
        "an empty frame": frame(b""),
        "half a header": frame(b"\0\x12\0"),
        "a header without its client id": frame(b"\0\x12\0\0\0\0\0\x01\0\x09"),
        "a bare token": frame(credentials.plain_token()),
    }


@judges("SASL-016")
@at_versions("SaslHandshake")
def test_frames_that_are_no_requests_close_the_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """As the first bytes, and behind SaslHandshake, where a bare token is right for v0 alone."""
    credentials = credentials_of(broker, PLAIN)
    with requirement("SASL-016") as check:
        for name, data in _hostile_bytes(credentials).items():
            with check.subtest(f"first {name}"):
                _expect_close(unauthenticated(broker), data)
            if name == "a bare token" and api_version == 0:
                continue
            with check.subtest(f"{name} behind the handshake"):
                connection = unauthenticated(broker)
                shake_hands(connection, PLAIN, api_version)
                _expect_close(connection, data)
        with check.subtest("another client"):
            expect_served(broker, broker.connect())


def _expect_close(connection: Connection, data: bytes) -> None:
    with suppress(ConnectionClosed):
        connection.send_bytes(data)
    connection.expect_closed()


@judges("SASL-017")
@at_versions("SaslAuthenticate")
def test_nothing_behind_a_failed_authentication_is_served(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Neither the right token nor a request, in one piece with the wrong token."""
    credentials = credentials_of(broker, PLAIN)
    wrong = credentials.with_wrong_password().plain_token()
    behind = {
        "a right token": _token_frame(credentials.plain_token(), api_version, 3),
        "a request": _metadata_frame(broker, 3),
        "a right token and a request": _token_frame(credentials.plain_token(), api_version, 3)
        + _metadata_frame(broker, 4),
    }
    with requirement("SASL-017") as check:
        for name, more in behind.items():
            with check.subtest(name):
                connection = unauthenticated(broker)
                shake_hands(connection, PLAIN)
                connection.send_bytes(_token_frame(wrong, api_version, 2) + more)
                came = connection.read_to_end()
                assert _frames_in(came) <= 1, f"{name} behind a wrong token is answered"


def _token_frame(token: bytes, version: int, correlation_id: int) -> bytes:
    request = SaslAuthenticateRequest(auth_bytes=token)
    return frame(encode_request(request, version, correlation_id, "kc"))


def _metadata_frame(broker: BrokerUnderTest, correlation_id: int) -> bytes:
    version = broker.version("Metadata")
    return frame(encode_request(MetadataRequest(topics=[]), version, correlation_id, "kc"))


def _frames_in(data: bytes) -> int:
    count = 0
    while len(data) >= len(NEGATIVE):
        data = data[len(NEGATIVE) + int.from_bytes(data[: len(NEGATIVE)], "big") :]
        count += 1
    return count


@judges("SASL-018")
@pytest.mark.parametrize("mechanism", SCRAM)
@at_versions("SaslAuthenticate")
def test_a_proof_is_of_one_exchange(
    broker: BrokerUnderTest, mechanism: str, api_version: int
) -> None:
    """The messages of an exchange that succeeded are of no use in another one: not as they were,
    and not with the new nonce of the broker."""
    credentials = credentials_of(broker, mechanism)
    exchange = credentials.begin(mechanism)
    connection = unauthenticated(broker)
    shake_hands(connection, mechanism)
    first = exchange.first()
    final = following(exchange, bytes(send_token(connection, first, api_version).auth_bytes))
    assert final is not None, "the exchange goes on"
    with requirement("SASL-018") as check:
        with check.subtest("the exchange itself"):
            answer = send_token(connection, final, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "client-final")
            following(exchange, bytes(answer.auth_bytes))
            expect_served(broker, connection)
        for name in ("as it was", "with the new nonce"):
            with check.subtest(name):
                other = unauthenticated(broker)
                shake_hands(other, mechanism)
                answer = send_token(other, first, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, "client-first")
                told = bytes(answer.auth_bytes)
                again = final if name == "as it was" else _with_nonce(final, told)
                expect_refused(other, send_token(other, again, api_version), name)


def _with_nonce(final: bytes, server_first: bytes) -> bytes:
    """A client-final with the nonce of another exchange, and its old proof."""
    nonce = server_first.partition(b",")[0]
    binding, _, proof = final.split(b",", 2)
    return b",".join((binding, nonce, proof))


@judges("SASL-019")
@at_versions("SaslAuthenticate", "1")
def test_failed_logins_keep_no_other_client_out(broker: BrokerUnderTest, api_version: int) -> None:
    """Many wrong passwords, many at once: each is refused; meanwhile and afterwards the right one
    enters, and a client that is authenticated is served."""
    credentials = credentials_of(broker, PLAIN)
    wrong = credentials.with_wrong_password().plain_token()
    authenticated = broker.connect()
    with requirement("SASL-019"):
        for _ in range(FAILED_LOGINS // AT_ONCE):
            waiting = [unauthenticated(broker) for _ in range(AT_ONCE)]
            for connection in waiting:
                shake_hands(connection, PLAIN)
                connection.send(SaslAuthenticateRequest(auth_bytes=wrong), api_version)
            expect_served(broker, authenticated)
            for connection in waiting:
                answer = connection.receive()
                assert isinstance(answer, SaslAuthenticateResponse), "another answer"
                expect_refused(connection, answer, "a wrong password")
                connection.close()
        entering = unauthenticated(broker)
        shake_hands(entering, PLAIN)
        answer = enter(entering, credentials, PLAIN, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "the right password")
        expect_served(broker, entering)

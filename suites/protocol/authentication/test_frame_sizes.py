"""SASL: the largest frame that a client may send before it is authenticated."""

from __future__ import annotations

from contextlib import suppress

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import PLAIN
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.header import encode_request
from harness.codec.messages import ApiVersionsRequest, SaslAuthenticateRequest
from harness.codec.structs import Message
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import (
    credentials_of,
    expect_served,
    shake_hands,
    unauthenticated,
)

LIMIT_BYTES = 524_288
"""`sasl.server.max.receive.size`, and what stood in its place before there was this setting."""
UNKNOWN_TAG = 1_000


def _versions_request(filling: int) -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name="kc",
        client_software_version="1",
        unknown_tagged_fields={UNKNOWN_TAG: bytes(filling)},
    )


def _token_request(filling: int) -> SaslAuthenticateRequest:
    return SaslAuthenticateRequest(auth_bytes=b"\0kc\0" + b"x" * filling)


def _size(message: Message, version: int) -> int:
    return len(encode_request(message, version, 1, "kc"))


def _filling(message: Message, version: int, size: int, filling: int) -> int:
    """Return the filling with which the frame has this size, from that of ``message``."""
    return filling + size - _size(message, version)


def _send_whole(connection: Connection, message: Message, version: int, size: int) -> None:
    """Send a frame of this size, as far as the broker reads it."""
    payload = encode_request(message, version, 1, "kc")
    assert len(payload) == size, f"the frame has {len(payload)} bytes"
    with suppress(ConnectionClosed):
        connection.send_frame(payload)


@judges("SASL-009")
@at_versions("ApiVersions", "3+")
def test_a_request_above_the_limit_closes_the_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One of the limit is answered; behind the authentication one above it is answered too."""
    credentials_of(broker)
    begun = LIMIT_BYTES // 2
    most = _filling(_versions_request(begun), api_version, LIMIT_BYTES, begun)
    above = _versions_request(most + 1)
    with requirement("SASL-009") as check:
        with check.subtest("the limit"):
            connection = unauthenticated(broker)
            connection.client_id = "kc"
            answer = connection.ask(_versions_request(most), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"{LIMIT_BYTES} bytes")
        with check.subtest("one byte more"):
            connection = unauthenticated(broker)
            _send_whole(connection, above, api_version, LIMIT_BYTES + 1)
            connection.expect_closed()
        with check.subtest("behind the authentication"):
            connection = broker.connect("kc")
            answer = connection.ask(above, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"{LIMIT_BYTES + 1} bytes")
            expect_served(broker, connection)


@judges("SASL-009")
@at_versions("SaslAuthenticate")
def test_a_token_above_the_limit_closes_the_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A wrong token in a frame of the limit gets its error."""
    credentials_of(broker, PLAIN)
    begun = LIMIT_BYTES // 2
    most = _filling(_token_request(begun), api_version, LIMIT_BYTES, begun)
    with requirement("SASL-009") as check:
        with check.subtest("the limit"):
            connection = unauthenticated(broker)
            connection.client_id = "kc"
            shake_hands(connection, PLAIN)
            answer = connection.ask(_token_request(most), api_version)
            refused = ErrorCode.SASL_AUTHENTICATION_FAILED
            expect_error(answer.error_code, refused, f"{LIMIT_BYTES} bytes")
            connection.expect_closed()
        with check.subtest("one byte more"):
            connection = unauthenticated(broker)
            shake_hands(connection, PLAIN)
            _send_whole(connection, _token_request(most + 1), api_version, LIMIT_BYTES + 1)
            connection.expect_closed()

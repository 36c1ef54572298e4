"""CONN: requests of an authentication on a listener that has none."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "")


@judges("CONN-029")
@at_versions("SaslHandshake")
def test_sasl_handshake_on_plain_listener_returns_illegal_sasl_state(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """For any mechanism; the connection serves the next request."""
    connection = broker.connect()
    with requirement("CONN-029") as check:
        _expect_plain(broker, "SaslHandshake")
        for mechanism in MECHANISMS:
            with check.subtest(f"mechanism {mechanism!r}"):
                answer = connection.ask(SaslHandshakeRequest(mechanism=mechanism), api_version)
                expect_error(answer.error_code, ErrorCode.ILLEGAL_SASL_STATE, mechanism)
        with check.subtest("the next request"):
            brokers = connection.ask(MetadataRequest(topics=[]), broker.version("Metadata")).brokers
            assert brokers, "Metadata on the same connection lists no broker"


@judges("CONN-029")
@at_versions("SaslAuthenticate")
def test_sasl_authenticate_on_plain_listener_returns_illegal_sasl_state(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """With a user and a password, and with nothing."""
    connection = broker.connect()
    with requirement("CONN-029") as check:
        _expect_plain(broker, "SaslAuthenticate")
        for token in (b"\x00user\x00secret", b""):
            with check.subtest(f"{len(token)} bytes"):
                request = SaslAuthenticateRequest(auth_bytes=token)
                answer = connection.ask(request, api_version)
                code = answer.error_code
                expect_error(code, ErrorCode.ILLEGAL_SASL_STATE, f"{len(token)} bytes")
        with check.subtest("the next request"):
            brokers = connection.ask(MetadataRequest(topics=[]), broker.version("Metadata")).brokers
            assert brokers, "Metadata on the same connection lists no broker"


def _expect_plain(broker: BrokerUnderTest, api_name: str) -> None:
    """Raises NotGranted for a listener with SASL, before any subtest could pass there."""
    broker.grants.check(api_named(api_name).key.to_bytes(2))

"""SASL, APIV: requests and frames before the client is authenticated."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ApiVersionsRequest, MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import (
    credentials_of,
    enter,
    expect_served,
    shake_hands,
    unauthenticated,
)


@judges("SASL-001")
@at_versions("Metadata")
def test_a_request_before_authentication_closes_the_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """As the first one, and behind ApiVersions."""
    credentials_of(broker)
    with requirement("SASL-001") as check:
        for asks_versions in (False, True):
            with check.subtest("behind ApiVersions" if asks_versions else "first"):
                connection = unauthenticated(broker)
                if asks_versions:
                    connection.ask(ApiVersionsRequest(), 0)
                connection.send(MetadataRequest(topics=[]), api_version)
                connection.forget_answer()
                connection.expect_closed()


@judges("SASL-001")
@at_versions("SaslAuthenticate")
def test_a_token_before_the_handshake_closes_the_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The right one."""
    credentials = credentials_of(broker, "PLAIN")
    with requirement("SASL-001"):
        connection = unauthenticated(broker)
        from harness.codec.messages import SaslAuthenticateRequest

        token = credentials.plain_token()
        connection.send(SaslAuthenticateRequest(auth_bytes=token), api_version)
        connection.forget_answer()
        connection.expect_closed()


@judges("APIV-007")
@at_versions("ApiVersions")
def test_api_versions_are_answered_before_the_authentication(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """With the APIs that an authenticated client is shown; the authentication goes on behind."""
    credentials = credentials_of(broker)
    mechanism = credentials.mechanisms[0]
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="1")
    if api_version < 3:
        request = ApiVersionsRequest()
    shown = {key: (one.lowest, one.highest) for key, one in broker.api_versions.items()}
    with requirement("APIV-007"):
        connection = unauthenticated(broker)
        answer = connection.ask(request, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "ApiVersions")
        found = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}
        assert found == shown, "the APIs differ from those behind the authentication"
        shake_hands(connection, mechanism)
        entered = enter(connection, credentials, mechanism, broker.version("SaslAuthenticate"))
        expect_error(entered.error_code, ErrorCode.NONE, mechanism)
        expect_served(broker, connection)


@judges("APIV-008")
@at_versions("ApiVersions")
def test_api_versions_behind_the_handshake_are_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """With ILLEGAL_SASL_STATE, and a close."""
    credentials = credentials_of(broker)
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="1")
    if api_version < 3:
        request = ApiVersionsRequest()
    with requirement("APIV-008"):
        connection = unauthenticated(broker)
        shake_hands(connection, credentials.mechanisms[0])
        answer = connection.ask(request, api_version)
        expect_error(answer.error_code, ErrorCode.ILLEGAL_SASL_STATE, "ApiVersions")
        connection.expect_closed()

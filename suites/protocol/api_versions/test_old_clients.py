"""APIV: versions that brokers keep for the sake of old clients."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.messages import ApiVersionsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges


@judges("APIV-020")
@at_versions("ApiVersions")
def test_join_group_is_advertised_from_version_0(broker: BrokerUnderTest, api_version: int) -> None:
    """The range of JoinGroup, in the table of each version of ApiVersions, begins at 0."""
    broker.version("JoinGroup")
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="1.0")
    connection = broker.connect()
    with requirement("APIV-020"):
        answer = connection.ask(request, api_version)
        join = api_named("JoinGroup").key
        lowest = [one.min_version for one in answer.api_keys if one.api_key == join]
        assert lowest == [0], f"JoinGroup is advertised from {lowest}, expected [0]"

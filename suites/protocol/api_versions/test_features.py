"""APIV: the features in ApiVersions (KIP-584)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.messages import ApiVersionsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges


@judges("APIV-018")
@at_versions("ApiVersions", "3", "4+")
def test_api_versions_lists_no_feature_at_level_0_as_finalized(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Level 0 means that a feature is off; a release supports some that are off at first."""
    with requirement("APIV-018"):
        request = ApiVersionsRequest(client_software_name="kc", client_software_version="1.0")
        answer = broker.ask(request, api_version)
        off = [each.name for each in answer.finalized_features if each.max_version_level < 1]
        assert not off, f"finalized at level 0: {off}"

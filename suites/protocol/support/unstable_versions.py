"""Versions that a broker advertises with ``unstable.api.versions.enable`` alone."""

from __future__ import annotations

from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.messages import ApiVersionsRequest
from harness.codec.versions import VersionRange

UNSTABLE = {"unstable.api.versions.enable": "true"}


def unstable_version(broker: BrokerUnderTest, api_name: str, wanted: str) -> int:
    """The highest version of ``wanted`` that this broker advertises, which the run's may not.

    Raises ApiNotAdvertised.
    """
    api = api_named(api_name)
    answer = broker.ask(ApiVersionsRequest(), 0)
    for one in answer.api_keys:
        if one.api_key == api.key:
            usable = VersionRange(one.min_version, one.max_version) & VersionRange.parse(wanted)
            if usable := usable & api.valid_versions:
                return usable.highest
    raise ApiNotAdvertised(f"{api_name} {wanted} is needed with unstable versions")

"""Every version of an API that a broker serves, for tests that harm nodes in their preparation."""

from __future__ import annotations

from contextlib import AbstractContextManager

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.versions import VersionRange
from harness.conformance.checks import Check, requirement


def served(client: BrokerUnderTest, api_name: str, wanted: str = "0+") -> list[int]:
    """The versions of ``wanted`` that are served and known; raises ApiNotAdvertised for none."""
    client.version(api_name, wanted)
    api = api_named(api_name)
    usable = client.advertised(api_name) & VersionRange.parse(wanted) & api.valid_versions
    return [version for version in usable if version not in api.unstable_versions]


def checked(requirement_id: str, api_name: str, version: int) -> AbstractContextManager[Check]:
    """A check of the requirement that is about this version."""
    key = api_named(api_name).key
    return requirement(requirement_id, api_key=key, api_version=version)

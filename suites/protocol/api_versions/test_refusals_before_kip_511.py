"""APIV: the refusal of a version of ApiVersions before it had the range (KIP-511)."""

from __future__ import annotations

import struct

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.codec import decode
from harness.codec.apis import API_VERSIONS_KEY
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ApiVersionsResponse
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.marks import judges
from suites.protocol.support.expect import expect_error

FIRST_WITH_KIP_511 = 3
HIGHEST = 32767


def _answer(connection: Connection, version: int) -> ApiVersionsResponse:
    client_id = b"c\0" if version == HIGHEST else b"c"  # with the tags of its header
    connection.send_frame(struct.pack(">hhih", API_VERSIONS_KEY, version, 1, 1) + client_id)
    return decode(ApiVersionsResponse, 0, connection.receive_frame()[4:])


@judges("APIV-021")
@pytest.mark.parametrize("which", ["next", "highest"])
def test_unsupported_version_of_api_versions_gets_no_range_before_kip_511(
    broker: BrokerUnderTest, which: str
) -> None:
    """UNSUPPORTED_VERSION and no API in the format of v0; then v0 has them all."""
    advertised = broker.advertised("ApiVersions")
    broker.version("ApiVersions")
    if FIRST_WITH_KIP_511 in advertised:
        raise NotApplicable("no range in a refusal", "ApiVersions v3 is advertised (KIP-511)")
    version = HIGHEST if which == "highest" else advertised.highest + 1
    connection = broker.connect("APIV-021")
    with requirement("APIV-021", api_key=API_VERSIONS_KEY, api_version=version):
        refused, served = _answer(connection, version), _answer(connection, 0)
        expect_error(refused.error_code, ErrorCode.UNSUPPORTED_VERSION)
        shown = [(one.api_key, one.min_version, one.max_version) for one in refused.api_keys]
        assert not shown, f"(API, lowest, highest) in the refusal are {shown}, expected none"
        expect_error(served.error_code, ErrorCode.NONE)
        keys = {one.api_key for one in served.api_keys}
        assert API_VERSIONS_KEY in keys, f"version 0 then has the APIs {sorted(keys)}"

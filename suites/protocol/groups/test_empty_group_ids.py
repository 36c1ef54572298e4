"""GRP: requests of a member that name no group."""

from __future__ import annotations

import pytest

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import HeartbeatRequest, LeaveGroupRequest, SyncGroupRequest
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.expect import expect_error
from suites.protocol.support.harmless import served_versions

MADE_UP = "made-up"
SEVERAL_LEAVERS = 3  # from this version of LeaveGroup on


def _error_of(group: ClassicGroup, api_name: str, version: int) -> int:
    """Return the error at the top of the response to a request about the group ""."""
    broker = group.broker
    if api_name == "Heartbeat":
        return broker.ask(HeartbeatRequest(generation_id=1, member_id=MADE_UP), version).error_code
    if api_name == "SyncGroup":
        sync = SyncGroupRequest(
            generation_id=1, member_id=MADE_UP, protocol_type="consumer", protocol_name="range"
        )
        return broker.ask(sync, version).error_code
    leave = LeaveGroupRequest(member_id=MADE_UP)
    if version >= SEVERAL_LEAVERS:
        member = LeaveGroupRequest.MemberIdentity(member_id=MADE_UP)
        leave = LeaveGroupRequest(members=[member])
    return broker.ask(leave, version).error_code


@judges("GRP-078")
@pytest.mark.parametrize("api_name", ["Heartbeat", "SyncGroup", "LeaveGroup"])
def test_request_of_member_with_empty_group_id_returns_invalid_group_id(
    group: ClassicGroup, api_name: str
) -> None:
    """INVALID_GROUP_ID at each version; JoinGroup is the matter of GRP-007."""
    group.member()  # the coordinator serves groups
    for version in served_versions(group.broker, api_name):
        with requirement("GRP-078", api_key=api_named(api_name).key, api_version=version):
            code = _error_of(group, api_name, version)
            expect_error(code, ErrorCode.INVALID_GROUP_ID, f'{api_name} v{version} of group ""')

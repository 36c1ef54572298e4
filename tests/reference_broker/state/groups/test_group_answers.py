"""Answers to members, field by field, where they depend on the version."""

from __future__ import annotations

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest, JoinGroupRequest
from tests.reference_broker.running import Address


@pytest.mark.parametrize(("version", "name"), [(6, ""), (7, None)])
@pytest.mark.parametrize(
    ("member_id", "error"),
    [("", ErrorCode.MEMBER_ID_REQUIRED), ("nobody", ErrorCode.UNKNOWN_MEMBER_ID)],
)
def test_join_group_error_has_null_protocol_name_from_version_7(
    address: Address, version: int, name: str | None, member_id: str, error: ErrorCode
) -> None:
    """JoinGroupResponse, KAFKA-15856."""
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
    request = JoinGroupRequest(
        group_id=f"answers-{version}-{member_id}",
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[protocol],
    )
    with Connection(address) as connection:
        connection.ask(FindCoordinatorRequest(key="any", key_type=0), 1)
        answer = connection.ask(request, version)
    assert answer.error_code == error
    assert answer.protocol_name == name

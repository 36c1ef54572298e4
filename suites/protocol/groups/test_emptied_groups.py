"""GRP: groups that all members have left."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import ClassicGroup, leave, sync_all
from suites.protocol.support.expect import expect_error
from suites.protocol.support.held_groups import hold


@judges("GRP-046")
@at_versions("JoinGroup")
def test_group_without_members_accepts_other_protocols_at_higher_generation(
    group: ClassicGroup, api_version: int
) -> None:
    """Two consumers leave; a worker of another type joins, with a protocol that they lacked."""
    newcomers = [group.member() for _ in range(2)]
    hold(group.broker, group.group_id)
    members = group.grown(newcomers)
    last = members[0].generation
    for member in members:
        leave(group.broker, group.group_id, member.member_id)
    group.at("JoinGroup", api_version).protocol_type = "connect"
    worker = group.member({"default": b"a worker's"})
    worker.be_given_an_id()
    with requirement("GRP-046"):
        answer = worker.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join with another type")
        worker.remember(answer)
        found = (answer.leader, answer.protocol_name, len(answer.members))
        expected = (worker.member_id, "default", 1)
        assert found == expected, f"leader, protocol and members are {found}, expected {expected}"
        generation = answer.generation_id
        assert generation > last, f"generation {generation} after {last}"
        sync_all([worker])
        expect_error(worker.heartbeat(), ErrorCode.NONE, "heartbeat of the worker")

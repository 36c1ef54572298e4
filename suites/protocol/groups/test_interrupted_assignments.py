"""GRP: rebalances that begin before the leader of a generation has assigned."""

from __future__ import annotations

from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    ClassicGroup,
    followers_of,
    leader_of,
    subscription,
)
from suites.protocol.support.group_times import join_again


@judges("GRP-072")
@at_versions("DescribeGroups")
def test_describe_groups_returns_no_assignment_after_interrupted_generation(
    group: ClassicGroup, api_version: int
) -> None:
    """The first generation is assigned; in the second the follower joins again at once."""
    members = group.stable(None, None)
    leader, (follower,) = leader_of(members), followers_of(members)
    join_again(leader, [follower])
    follower.protocols = dict.fromkeys(follower.protocols, subscription(b"news"))
    follower.send_join()
    group.at("DescribeGroups", api_version)
    with requirement("GRP-072"):
        found = group.broker.last_seen(
            group.described, lambda seen: seen.group_state == "PreparingRebalance"
        )
        assert found.group_state == "PreparingRebalance", f"the state is {found.group_state}"
        assigned = {each.member_id: bytes(each.member_assignment) for each in found.members}
        none = {member.member_id: b"" for member in members}
        assert assigned == none, f"the assignments are {assigned}, expected {none}"

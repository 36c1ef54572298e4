"""GRP: the operations on groups that DescribeGroups returns on request (KIP-430)."""

from __future__ import annotations

from harness.codec.messages import DescribeGroupsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.committed_offsets import commit, entry, fresh_group

NOT_ASKED = -(2**31)


@judges("GRP-069")
@at_versions("DescribeGroups", "3+")
def test_describe_groups_returns_authorized_operations_of_each_group_on_request(
    group: ClassicGroup, api_version: int
) -> None:
    """A group with a member and two with offsets alone have the same operations, some at least."""
    group.stable(None)
    broker, topic = group.broker, group.broker.create_topic()
    simple = [fresh_group(broker, topic) for _ in range(2)]
    for each in simple:
        commit(broker, each, {topic: [entry(1)]})
    with requirement("GRP-069") as check:
        for asked in (True, False):
            with check.subtest(f"requested: {asked}"):
                request = DescribeGroupsRequest(
                    groups=[simple[0], group.group_id, simple[1]],
                    include_authorized_operations=asked,
                )
                answer = broker.ask(request, api_version)
                found = [one.authorized_operations for one in answer.groups]
                what = f"requested: {asked}, the operations are {found}"
                assert len(found) == len(request.groups), what
                assert (set(found) == {NOT_ASKED}) is not asked, what
                assert len(set(found)) == 1, what
                assert found[0] != 0, what

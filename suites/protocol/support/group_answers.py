"""Groups of all kinds, with whole answers about them and their committed offsets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    leave,
    subscription,
    sync_all,
)
from suites.protocol.support.committed_offsets import (
    FIRST_FETCH_OF_GROUPS,
    FIRST_IN_KAFKA,
    Committer,
    ask_to_commit,
    commit,
    entry,
    fetch_request,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.whole_answers import WholeAnswers, whole_answer

SESSION_MS = 120_000  # longer than a test takes to start a broker again
FIRST_JOIN_OF_STATIC = 5  # KIP-345
OF_SECOND = "client of the second member"
SEVERAL_PROTOCOLS = {"range": subscription(b"of range"), "roundrobin": subscription(b"of another")}
ONE_PROTOCOL = {"roundrobin": subscription(b"of the second")}
Wanted = Mapping[str, Mapping[Topic, Sequence[int]] | None]
MakeGroup = Callable[[], ClassicGroup]
ClientOf = Callable[[str], BrokerUnderTest]
"""Returns the client of a group's coordinator."""


def described_groups(client_of: ClientOf, groups: Sequence[str]) -> WholeAnswers:
    """Answers of DescribeGroups and ListGroups of the coordinator of each group."""
    answers: WholeAnswers = {}
    for group in groups:
        client = client_of(group)
        version = client.version("DescribeGroups")
        answer = client.ask(DescribeGroupsRequest(groups=[group]), version)
        answers |= whole_answer(f"DescribeGroups {group}", answer, version)
        version = client.version("ListGroups")
        listed = client.ask(ListGroupsRequest(), version)
        listed.groups = [each for each in listed.groups if each.group_id == group]
        answers |= whole_answer(f"ListGroups {group}", listed, version)
    return answers


def committed_offsets(client: BrokerUnderTest, wanted: Wanted) -> WholeAnswers:
    """Answers of OffsetFetch: of each group alone, and of all in one request."""
    version = client.version("OffsetFetch", FIRST_IN_KAFKA)
    requests: list[Wanted] = [{group: topics} for group, topics in wanted.items()]
    if version >= FIRST_FETCH_OF_GROUPS:
        requests.append(wanted)
    answers: WholeAnswers = {}
    for number, each in enumerate(requests):
        answer = client.ask(fetch_request(each, version), version)
        answers |= whole_answer(f"OffsetFetch {number}", answer, version)
    return answers


class RichGroups:
    """Groups with unlike members, with a static one, one that all have left, a deleted one."""

    def __init__(self, client_of: ClientOf, topic: Topic, make: MakeGroup) -> None:
        self._client_of, self._topic = client_of, topic
        self._stable, self._emptied = make(), make()
        takes_static = FIRST_JOIN_OF_STATIC in self._emptied.broker.advertised("JoinGroup")
        self._with_static = make() if takes_static else None
        for group in self._groups:
            group.session_ms = SESSION_MS
        stable = self._stable
        self._members = stable.grown(
            [stable.member(SEVERAL_PROTOCOLS), stable.member(ONE_PROTOCOL, client_id=OF_SECOND)]
        )
        self._follower = self._members[1]
        self._static: ClientMember | None = None
        self._assigned = b""
        if (with_static := self._with_static) is not None:
            others = with_static.grown(
                [with_static.member(), with_static.member(instance_id="static")]
            )
            self._static, self._assigned = others[1], others[1].member_id.encode()
            self._members += others
        self._generation = self._join_and_leave(self._emptied)
        self._deleted = self._make_deleted(make)
        emptied = self._emptied
        commit(emptied.broker, emptied.group_id, {topic: [entry(1, "of an empty group")]})

    @property
    def _groups(self) -> list[ClassicGroup]:
        return [self._stable, self._emptied, *([self._with_static] if self._with_static else [])]

    @property
    def names(self) -> list[str]:
        return [*(group.group_id for group in self._groups), *self._deleted]

    def _make_deleted(self, make: MakeGroup) -> list[str]:
        """Return the name of a group that was deleted with its offset, where that is possible."""
        group = make()
        if not group.broker.advertised("DeleteGroups"):
            return []
        self._join_and_leave(group)
        commit(group.broker, group.group_id, {self._topic: [entry(2, "of a deleted group")]})
        (result,) = group.broker.ask(DeleteGroupsRequest(groups_names=[group.group_id])).results
        if result.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"DeleteGroups: {ErrorCode.describe(result.error_code)}")
        return [group.group_id]

    def _join_and_leave(self, group: ClassicGroup) -> int:
        """Return the generation of the one member that joins the group without members."""
        member = group.member()
        member.join()
        sync_all([member])
        leave(group.broker, group.group_id, member.member_id)
        return member.generation

    def expect_goes_on(self, when: str) -> None:
        """Members go on with their ids and generation, and an older generation is refused.

        A follower that joins again learns of the leader; a static member is known again; the group
        without members has its next generation.
        """
        for group in self._groups:
            group.broker = self._client_of(group.group_id)
        for member in self._members:
            member.connection = member.group.broker.connect()
            self._expect_member_goes_on(member, f"{when} {member.member_id}")
        _expect_follower_joins_again(self._follower, f"{when} {self._follower.member_id}")
        if self._static is not None:
            _expect_static_returns(self._static, self._assigned, when)
        before = self._generation
        self._generation = self._join_and_leave(self._emptied)
        told = f"{when} the generation behind {before} is {self._generation}"
        assert self._generation > before, told

    def _expect_member_goes_on(self, member: ClientMember, where: str) -> None:
        for by, code in ((0, ErrorCode.NONE), (-1, ErrorCode.ILLEGAL_GENERATION)):
            request = member.heartbeat_request()
            request.generation_id += by
            told = f"{where}, generation {request.generation_id} of {member.generation}"
            expect_error(member.heartbeat(request), code, f"{told}, Heartbeat")
            client, group = member.group.broker, member.group.group_id
            version = client.version("OffsetCommit", FIRST_IN_KAFKA)
            committer = Committer(request.generation_id, member.member_id)
            entries = {self._topic: [entry(request.generation_id, "of a member")]}
            (found,) = ask_to_commit(client, group, entries, version, committer).values()
            expect_error(found, code, f"{told}, OffsetCommit")


def _expect_follower_joins_again(member: ClientMember, where: str) -> None:
    """It offers what it offered before, so nothing changes: generation, protocol, leader."""
    answer = member.ask_join()
    expect_error(answer.error_code, ErrorCode.NONE, f"{where} joins again")
    found = answer.generation_id, answer.protocol_name, answer.leader, len(answer.members)
    expected = member.generation, member.protocol_name, member.leader_id, 0
    told = f"{where} joins again: generation, protocol, leader, members"
    assert found == expected, f"{told} are {found}, expected {expected}"


def _expect_static_returns(member: ClientMember, assigned: bytes, when: str) -> None:
    """It joins without its id, as after its own restart: the generation stays."""
    generation = member.generation
    member.member_id = ""
    answer = member.ask_join()
    expect_error(answer.error_code, ErrorCode.NONE, f"{when} the static member joins again")
    member.remember(answer)
    told = f"{when} the static member comes to generation {member.generation} of {generation}"
    assert member.generation == generation, told
    synced = member.ask_sync()
    expect_error(synced.error_code, ErrorCode.NONE, f"{when} the static member syncs")
    part = bytes(synced.assignment)
    told = f"{when} the static member has the assignment {part!r}, not {assigned!r}"
    assert part == assigned, told

"""A classic group of a test: members, each with a connection of its own.

A member that waits for a response cannot send another request on its connection, as in any client.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Address, Connection
from harness.client.coordinator import GROUP, await_coordinator
from harness.client.errors import BrokerMisbehaved, PreparationFailed
from harness.codec.data_framing.version_prefix import version_prefixed_bytes
from harness.codec.error_code import ErrorCode
from harness.codec.header import DEFAULT_CLIENT_ID
from harness.codec.messages import (
    ConsumerProtocolSubscription,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from harness.runner.in_time import in_time
from suites.protocol.support.internal_topics import NOT_YET
from suites.protocol.support.loaded_groups import await_all_loaded

SESSION_MS, REBALANCE_MS = 30_000, 60_000
"""Long enough that no member of a test is given up by chance."""

SOON_MS, SOON_SHARE = 5_000, 0.6
"""Limits for immediate effects: ms on a fast machine, and a share of a session at most."""

KNOWN_ID = 4  # from this version of JoinGroup on a new member first receives its id (KIP-394)
IDS = 20  # ids that a new member requests, and requests for each, before it gives up
SEVERAL_LEAVE = 3  # from this version of LeaveGroup on it names several members (KIP-345)
MANDATORY_PROTOCOL = 5  # of SyncGroup (KIP-559)
_NOT_YET = {*NOT_YET, ErrorCode.NOT_COORDINATOR}
_FORGOTTEN = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.COORDINATOR_NOT_AVAILABLE)
_SERVED: set[Address] = set()
"""Shared brokers with a coordinator that was seen to serve requests: it stays so."""

Protocols = Mapping[str, bytes]


class ClassicGroup:
    """One group of a test; ``versions`` names those that are not to be the highest, by API."""

    def __init__(self, broker: BrokerUnderTest) -> None:
        self.broker = broker
        self.group_id = broker.unique_group()
        broker.delete_group_later(self.group_id)
        self.protocol_type = "consumer"
        self.session_ms, self.rebalance_ms = SESSION_MS, REBALANCE_MS
        self.versions: dict[str, int] = {}
        self.members: list[ClientMember] = []

    def version(self, api_name: str) -> int:
        """The one that the test named, or the highest."""
        if api_name not in self.versions:
            self.versions[api_name] = self.broker.version(api_name)
        return self.versions[api_name]

    def at(self, api_name: str, version: int) -> ClassicGroup:
        """Use this version of the API from now on."""
        self.versions[api_name] = version
        return self

    def member(
        self,
        protocols: Protocols | None = None,
        instance_id: str | None = None,
        client_id: str = DEFAULT_CLIENT_ID,
    ) -> ClientMember:
        """Create a member that has not joined yet.

        By default it has one protocol, and its own metadata for it.
        """
        self._await_served()
        if protocols is None:
            protocols = {"range": subscription(b"of member %d" % len(self.members))}
        made = ClientMember(self, self.broker.connect(client_id), protocols, instance_id)
        self.members.append(made)
        return made

    def stable(self, *wanted: Protocols | None) -> list[ClientMember]:
        """Return the members of a stable group, which have joined one after the other.

        Each has one of the given protocols.
        """
        return self.grown([self.member(protocols) for protocols in wanted])

    def grown(self, members: Sequence[ClientMember]) -> list[ClientMember]:
        """These join one after the other: each time all are members of a generation, and synced."""
        first, *others = members
        first.join()
        present = [first]
        sync_all(present)
        for newcomer in others:
            newcomer.be_given_an_id()
            newcomer.send_join()
            await_rebalance(first)
            for member in present:
                member.send_join()
            present.append(newcomer)
            for member in present:
                member.take_joined()
            sync_all(present)
        return present

    def described(self) -> DescribeGroupsResponse.DescribedGroup:
        """Return the group as DescribeGroups describes it."""
        answer = self.broker.ask(
            DescribeGroupsRequest(groups=[self.group_id]), self.version("DescribeGroups")
        )
        (group,) = answer.groups
        return group

    def _await_served(self) -> None:
        """A coordinator that is named may have to load its groups yet, or to be let write them."""
        if not self.broker.private and self.broker.address in _SERVED:
            return
        await_coordinator(self.broker, GROUP)
        self.broker.eventually(self._is_served, "the coordinator serves groups", 60_000)
        await_all_loaded(self.broker)
        if not self.broker.private:
            _SERVED.add(self.broker.address)

    def _is_served(self) -> bool:
        """True if one member can join and sync, or fails for a reason other than loading."""
        probe = ClassicGroup(self.broker)
        member = ClientMember(probe, self.broker.connect(), {"range": subscription()}, None)
        probe.members.append(member)
        try:
            member.join()
            sync_all([member])
        except PreparationFailed as failed:
            return failed.error_code not in _NOT_YET
        except BrokerMisbehaved:
            return True  # the next request shows the problem
        finally:
            probe.close()
        return True

    def close(self) -> None:
        """All leave, and the group is deleted where that can be asked."""
        with contextlib.suppress(BrokerMisbehaved):
            for member in self.members:
                member.connection.close()
                if member.member_id:
                    leave(self.broker, self.group_id, member.member_id)
            if self.members and self.broker.advertised("DeleteGroups"):
                self.broker.ask(DeleteGroupsRequest(groups_names=[self.group_id]))


class ClientMember:
    """One member of the group, with the last values that it received."""

    def __init__(
        self,
        group: ClassicGroup,
        connection: Connection,
        protocols: Protocols,
        instance_id: str | None,
    ) -> None:
        self.group, self.connection = group, connection
        self.protocols = dict(protocols)
        self.instance_id = instance_id
        self.member_id, self.generation = "", -1
        self.protocol_name: str | None = None
        self.leader_id = ""

    @property
    def leads(self) -> bool:
        """True if the last join made it the leader."""
        return self.member_id == self.leader_id

    # -- joining -------------------------------------------------------------------------------

    def join_request(self) -> JoinGroupRequest:
        """Return the member's next JoinGroup request; a test may change it."""
        group = self.group
        request = JoinGroupRequest(
            group_id=group.group_id,
            session_timeout_ms=group.session_ms,
            rebalance_timeout_ms=group.rebalance_ms,
            member_id=self.member_id,
            protocol_type=group.protocol_type,
            protocols=[
                JoinGroupRequest.JoinGroupRequestProtocol(name=name, metadata=metadata)
                for name, metadata in self.protocols.items()
            ],
        )
        if self.instance_id is not None:
            request.group_instance_id = self.instance_id
        return request

    def send_join(self, request: JoinGroupRequest | None = None) -> None:
        """Ask to join; the answer may take its time."""
        request = self.join_request() if request is None else request
        self.connection.send(request, self.group.version("JoinGroup"))

    def take_join(self, *, tolerant: bool = False) -> JoinGroupResponse:
        """Return the response, with any error. ``tolerant``: it belongs to a preparation."""
        answer = self.connection.receive(tolerant=tolerant)
        assert isinstance(answer, JoinGroupResponse)
        return answer

    def ask_join(self, request: JoinGroupRequest | None = None) -> JoinGroupResponse:
        """Send one JoinGroup request and return its response, with any error."""
        self.send_join(request)
        return self.take_join()

    def be_given_an_id(self) -> None:
        """Request and store a member id, where a new member receives its id before it joins."""
        wants_id = self.group.version("JoinGroup") >= KNOWN_ID and self.instance_id is None
        if self.member_id or not wants_id:
            return
        for _ in range(IDS):
            self.send_join()
            answer = self.take_join(tolerant=True)
            if answer.error_code != ErrorCode.COORDINATOR_NOT_AVAILABLE:
                break  # else the group that this made is just being forgotten
        _prepared(answer.error_code, ErrorCode.MEMBER_ID_REQUIRED, "the first join")
        self.member_id = answer.member_id

    def remember(self, answer: JoinGroupResponse) -> JoinGroupResponse:
        """Store the member id, generation, protocol and leader of the response."""
        self.member_id, self.generation = answer.member_id, answer.generation_id
        self.protocol_name, self.leader_id = answer.protocol_name, answer.leader
        return answer

    def take_joined(self) -> JoinGroupResponse:
        """The answer of a join that has to succeed."""
        answer = self.take_join(tolerant=True)
        _prepared(answer.error_code, ErrorCode.NONE, "JoinGroup")
        return self.remember(answer)

    def join(self) -> JoinGroupResponse:
        """Become a member, or stay one, where no other member has to join.

        Up to Kafka 3.9 the deletion of a topic also removes groups without members, and with them a
        member id that the broker has just assigned (class GroupMetadataManager,
        cleanupGroupMetadata). As clients do, a new member then requests another id, also while the
        group is being removed.
        """
        is_new = not self.member_id
        for _ in range(IDS if is_new else 1):
            self.be_given_an_id()
            self.send_join()
            answer = self.take_join(tolerant=True)
            if answer.error_code not in _FORGOTTEN or not is_new:
                break
            self.member_id = ""
        _prepared(answer.error_code, ErrorCode.NONE, "JoinGroup")
        return self.remember(answer)

    # -- syncing -------------------------------------------------------------------------------

    def sync_request(self, parts: Mapping[str, bytes] | None = None) -> SyncGroupRequest:
        """``parts``: what the leader assigns, by member id."""
        request = SyncGroupRequest(
            group_id=self.group.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            assignments=[
                SyncGroupRequest.SyncGroupRequestAssignment(member_id=name, assignment=part)
                for name, part in (parts or {}).items()
            ],
        )
        if self.instance_id is not None:
            request.group_instance_id = self.instance_id
        if self.group.version("SyncGroup") >= MANDATORY_PROTOCOL:
            request.protocol_type = self.group.protocol_type
            request.protocol_name = self.protocol_name
        return request

    def send_sync(self, parts: Mapping[str, bytes] | None = None) -> None:
        """Ask for one's part; a follower's answer waits for the leader's request."""
        self.connection.send(self.sync_request(parts), self.group.version("SyncGroup"))

    def take_sync(self, *, tolerant: bool = False) -> SyncGroupResponse:
        """Return the response, with any error. ``tolerant``: it belongs to a preparation."""
        answer = self.connection.receive(tolerant=tolerant)
        assert isinstance(answer, SyncGroupResponse)
        return answer

    def ask_sync(self, request: SyncGroupRequest | None = None) -> SyncGroupResponse:
        """Send one SyncGroup request and return its response, with any error."""
        request = self.sync_request() if request is None else request
        return self.connection.ask(request, self.group.version("SyncGroup"))

    # -- the rest ------------------------------------------------------------------------------

    def reconnect(self) -> None:
        """Go on with a new connection, as the broker may have closed the one before."""
        self.connection.close()
        self.connection = self.group.broker.connect(self.connection.client_id)

    def heartbeat_request(self) -> HeartbeatRequest:
        """Return the member's next Heartbeat request; a test may change it."""
        request = HeartbeatRequest(
            group_id=self.group.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
        )
        if self.instance_id is not None:
            request.group_instance_id = self.instance_id
        return request

    def heartbeat(self, request: HeartbeatRequest | None = None) -> int:
        """The error code of the answer."""
        request = self.heartbeat_request() if request is None else request
        return self.connection.ask(request, self.group.version("Heartbeat")).error_code


def subscription(user_data: bytes = b"") -> bytes:
    """Metadata that any coordinator of consumers can read: to one topic, with these bytes.

    A coordinator may look for the topics, and some that find none never answer (KAFKA-20570).
    """
    message = ConsumerProtocolSubscription(topics=["a-topic"], user_data=user_data)
    return version_prefixed_bytes(message, 0)


def leave(
    broker: BrokerUnderTest, group_id: str, member_id: str, version: int | None = None
) -> int:
    """One member leaves; its error code, at the top before v3."""
    version = broker.version("LeaveGroup") if version is None else version
    if version < SEVERAL_LEAVE:
        request = LeaveGroupRequest(group_id=group_id, member_id=member_id)
        return broker.ask(request, version).error_code
    entry = LeaveGroupRequest.MemberIdentity(member_id=member_id)
    answer = broker.ask(LeaveGroupRequest(group_id=group_id, members=[entry]), version)
    return answer.error_code or answer.members[0].error_code


def sync_all(
    members: Sequence[ClientMember], parts: Mapping[str, bytes] | None = None
) -> list[SyncGroupResponse]:
    """Send SyncGroup for all members and return their responses.

    The leader sends the assignment, by default to each member its own id.
    """
    if parts is None:
        parts = {member.member_id: member.member_id.encode() for member in members}
    for member in members:
        member.send_sync(parts if member.leads else None)
    answers = [member.take_sync(tolerant=True) for member in members]
    for answer in answers:
        _prepared(answer.error_code, ErrorCode.NONE, "SyncGroup")
    return answers


def await_rebalance(member: ClientMember, within_ms: float = 15_000) -> None:
    """Wait until a heartbeat of the member returns REBALANCE_IN_PROGRESS."""
    member.group.broker.eventually(
        lambda: member.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS,
        f"a heartbeat of {member.member_id} says REBALANCE_IN_PROGRESS",
        within_ms,
    )


def await_rebalance_soon(member: ClientMember) -> None:
    """The same, well before a session of the usual length could end, also in longer times.

    Raises TooSlow: see :mod:`harness.runner.in_time`.
    """
    broker = member.group.broker
    within_ms = min(broker.scaled_ms(SOON_MS), SOON_SHARE * SESSION_MS)
    with in_time(within_ms):
        await_rebalance(member, within_ms / broker.time_scale)


def leader_of(members: Sequence[ClientMember]) -> ClientMember:
    """Return the member that leads."""
    return next(member for member in members if member.leads)


def followers_of(members: Sequence[ClientMember]) -> list[ClientMember]:
    """All others."""
    return [member for member in members if not member.leads]


def _prepared(found: int, expected: ErrorCode, what: str) -> None:
    if found != expected:
        told = f"{what}: {ErrorCode.describe(found)}, needed is {ErrorCode.describe(expected)}"
        raise PreparationFailed(told, found)

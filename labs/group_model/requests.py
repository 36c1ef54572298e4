"""The request that a step means, from what its client knows; ids are symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.codec.data_framing.version_prefix import version_prefixed_bytes
from harness.codec.dictionary_form import to_dict
from harness.codec.messages import (
    ConsumerProtocolSubscription,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from harness.codec.structs import Message
from harness.codec.versions import VersionRange
from harness.differential.conversation import ConversationStep
from harness.differential.symbols import NAME
from labs.group_model.knowledge import (
    HASTY_REBALANCE_MS,
    MORTAL_SESSION_MS,
    REBALANCE_MS,
    SESSION_MS,
    Actor,
    Knowledge,
)
from labs.group_model.names import NOBODY
from labs.group_model.steps import (
    AS_IT_IS,
    Act,
    By,
    Commit,
    Delete,
    Describe,
    Heartbeat,
    Join,
    Leave,
    ListAll,
    Named,
    Parts,
    Sync,
    Who,
)

TOPIC = "committed"
SESSION_IS_ALL = 0
"""Of JoinGroup: the session timeout is the rebalance timeout too."""
KNOWN_ID = 4
"""From this version of JoinGroup on a new dynamic member is given an id first (KIP-394)."""
NO_GENERATION = -1
MOST_METADATA = 4096
"""offset.metadata.max.bytes."""
_ONE_LEAVES = 2


def step_of(act: Act, known: Knowledge, served: Mapping[str, VersionRange]) -> ConversationStep:
    """The request, with what its version carries."""
    api, make = _MAKERS[type(act)]
    versions = list(served[api])
    version = versions[act.version % len(versions)]
    fields = to_dict(make(act, known, version), version)
    for topic in fields.get("topics") or ():
        if "topic_id" in topic:
            topic["topic_id"] = "$topic_id:0"
    return ConversationStep(api, version, fields)


def _id(actor: Actor, who: Who, known: Knowledge) -> str:
    if who is Who.OTHER:
        return known.actors[(actor.place + 1) % len(known.actors)].member_id
    return {Who.OWN: actor.member_id, Who.NONE: "", Who.UNKNOWN: NOBODY}[who]


def _instance(actor: Actor, instance: str) -> str | None:
    return actor.instance if instance == AS_IT_IS else instance or None


def _join(act: Join, known: Knowledge, version: int) -> Message:
    actor = known.actors[act.actor]
    names = [name for name in act.offer.split(",") if name]
    said = ConsumerProtocolSubscription(topics=["a-topic"], user_data=act.data.encode())
    protocols = [
        JoinGroupRequest.JoinGroupRequestProtocol(
            name=name, metadata=version_prefixed_bytes(said, 0)
        )
        for name in names
    ]
    member_id = _id(actor, act.who, known)
    instance = _instance(actor, act.instance)
    is_joining = member_id or version < KNOWN_ID or instance is not None
    wants_short = known.hasty if version == SESSION_IS_ALL else act.mortal
    return JoinGroupRequest(
        group_id=NAME,
        session_timeout_ms=MORTAL_SESSION_MS if wants_short and is_joining else SESSION_MS,
        rebalance_timeout_ms=HASTY_REBALANCE_MS if known.hasty else REBALANCE_MS,
        member_id=member_id,
        group_instance_id=instance,
        protocol_type=act.kind,
        protocols=protocols,
    )


def part_of(member_id: str, generation: int) -> bytes:
    """Return a leader's assignment for a member: bytes with the member id and the generation."""
    return f"{member_id} in {generation}".encode()


def _sync(act: Sync, known: Knowledge, _version: int) -> Message:
    actor = known.actors[act.actor]
    named = {
        Named.RIGHT: (actor.kind, actor.protocol),
        Named.WRONG: (actor.kind, "sticky"),
        Named.MISSING: (None, None),
    }[act.named]
    leads = {Parts.AS_LEADER: actor.leads, Parts.ALL: True, Parts.NOTHING: False}[act.parts]
    roster = (actor.roster or (actor.member_id,)) if leads else ()
    return SyncGroupRequest(
        group_id=NAME,
        generation_id=actor.generation + act.off,
        member_id=_id(actor, act.who, known),
        group_instance_id=actor.instance,
        protocol_type=named[0],
        protocol_name=named[1],
        assignments=[
            SyncGroupRequest.SyncGroupRequestAssignment(
                member_id=one, assignment=part_of(one, actor.generation)
            )
            for one in roster
        ],
    )


def _heartbeat(act: Heartbeat, known: Knowledge, _version: int) -> Message:
    actor = known.actors[act.actor]
    return HeartbeatRequest(
        group_id=NAME,
        generation_id=actor.generation + act.off,
        member_id=_id(actor, act.who, known),
        group_instance_id=_instance(actor, act.instance),
    )


def _commit(act: Commit, known: Knowledge, _version: int) -> Message:
    actor = known.actors[act.actor]
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(
        partition_index=0,
        committed_offset=5,
        committed_metadata="." * (MOST_METADATA + 1) if act.too_long else "",
    )
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
    return OffsetCommitRequest(
        group_id=NAME,
        generation_id_or_member_epoch=(
            NO_GENERATION if act.off is None else actor.generation + act.off
        ),
        member_id=_id(actor, act.who, known),
        group_instance_id=_instance(actor, act.instance),
        topics=[topic],
    )


def _one_of(known: Knowledge, place: int) -> Actor:
    """Return one of the clients with an id; one of all clients if none has an id."""
    actors = [one for one in known.actors if one.member_id] or known.actors
    return actors[place % len(actors)]


def _leave(act: Leave, known: Knowledge, version: int) -> Message:
    first = _one_of(known, act.leavers[0][0])
    if version <= _ONE_LEAVES:
        return LeaveGroupRequest(group_id=NAME, member_id=first.member_id or NOBODY)
    members = []
    for place, how in act.leavers:
        actor = _one_of(known, place)
        instance = {By.ID: None, By.WRONG: "another"}.get(how, actor.instance)
        member_id = "" if how is By.INSTANCE else actor.member_id
        members.append(
            LeaveGroupRequest.MemberIdentity(member_id=member_id, group_instance_id=instance)
        )
    return LeaveGroupRequest(group_id=NAME, members=members)


def _describe(_act: Describe, _known: Knowledge, _version: int) -> Message:
    return DescribeGroupsRequest(groups=[NAME])


def _list(_act: ListAll, _known: Knowledge, _version: int) -> Message:
    return ListGroupsRequest()


def _delete(_act: Delete, _known: Knowledge, _version: int) -> Message:
    return DeleteGroupsRequest(groups_names=[NAME])


_MAKERS: Mapping[type[Act], tuple[str, Callable[[Any, Knowledge, int], Message]]] = {
    Join: ("JoinGroup", _join),
    Sync: ("SyncGroup", _sync),
    Heartbeat: ("Heartbeat", _heartbeat),
    Commit: ("OffsetCommit", _commit),
    Leave: ("LeaveGroup", _leave),
    Describe: ("DescribeGroups", _describe),
    ListAll: ("ListGroups", _list),
    Delete: ("DeleteGroups", _delete),
}
"""The API of each step that is one request, and what makes it."""
APIS = tuple(api for api, _ in _MAKERS.values())

"""The knowledge of a group's clients from the answers, in symbols: the same at both brokers.

It is no model of a coordinator. It has as much as is needed to send a client's next request, and to
know the members with running sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.codec.error_code import ErrorCode
from labs.group_model.difference import SentRequest
from labs.group_model.steps import ACTORS

SESSION_MS = 300_000
"""With this timeout the coordinator removes no member during a play."""
MORTAL_SESSION_MS = 1_500
REBALANCE_MS, HASTY_REBALANCE_MS = 300_000, 2_000

_LOST = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)


@dataclass(slots=True)
class Actor:
    """One client, with its knowledge from the last answers.

    Attributes:
        instance: of its last join; None for a dynamic member.
        joined: True if it knows a generation for which it has not synced.
        synced: True if it has its assignment of that generation.
        mortal: True if its last join asked for a short session.
        waits: its requests that are not answered.
    """

    place: int
    member_id: str = ""
    instance: str | None = None
    generation: int = -1
    kind: str = "consumer"
    protocol: str | None = None
    leader: str = ""
    roster: tuple[str, ...] = ()
    joined: bool = False
    synced: bool = False
    mortal: bool = False
    waits: set[int] = field(default_factory=set)

    @property
    def leads(self) -> bool:
        """True if the last join made it the leader."""
        return self.member_id != "" and self.leader == self.member_id

    @property
    def client_id(self) -> str:
        """Of its connections, which DescribeGroups shows."""
        return f"actor-{self.place}"

    def hears(self, api: str, said: Mapping[str, Any]) -> None:
        """An answer to one of its requests."""
        error = said.get("error_code", ErrorCode.NONE)
        if api == "JoinGroup":
            self._hears_join(error, said)
        elif error in _LOST:
            self.member_id, self.joined, self.synced = "", False, False
        elif error in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION):
            self.joined = self.synced = False
        elif api == "SyncGroup" and error == ErrorCode.NONE:
            self.joined, self.synced = False, True

    def _hears_join(self, error: int, said: Mapping[str, Any]) -> None:
        if error == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = said["member_id"]
        elif error in _LOST:
            self.member_id, self.joined, self.synced = "", False, False
        elif error == ErrorCode.NONE:
            self.member_id, self.generation = said["member_id"], said["generation_id"]
            self.protocol = said["protocol_name"]
            self.leader = said["leader"]
            self.roster = tuple(one["member_id"] for one in said["members"])
            self.joined, self.synced = True, False


@dataclass(slots=True)
class Knowledge:
    """All clients, and their common knowledge.

    Attributes:
        generation: the highest in any answer.
        leader: of that generation; its present id, if it has come back under another one.
        hasty: True if all members have a short rebalance timeout.
        synced: ids of the members that have their assignment of that generation.
        mortals: ids of members with short sessions, which must send heartbeats.
        instances: of the ids that belong to static members.
    """

    actors: list[Actor] = field(default_factory=lambda: [Actor(n) for n in range(ACTORS)])
    generation: int = -1
    leader: str = ""
    hasty: bool = False
    synced: set[str] = field(default_factory=set)
    mortals: set[str] = field(default_factory=set)
    instances: dict[str, str] = field(default_factory=dict)

    def hears(self, asked: SentRequest, said: Mapping[str, Any]) -> None:
        """One answer, which was the same at both."""
        step = asked.step
        if asked.actor >= 0:
            actor = self.actors[asked.actor]
            before = actor.member_id, actor.generation
            actor.hears(step.api, said)
            if step.api == "JoinGroup" and said.get("error_code") == ErrorCode.NONE:
                self._joined(actor, step.fields, before != (actor.member_id, actor.generation))
        if step.api == "SyncGroup" and said["error_code"] == ErrorCode.NONE:
            self.synced.add(step.fields["member_id"])
        if step.api == "DeleteGroups" and said["results"][0]["error_code"] == ErrorCode.NONE:
            self.generation, self.leader = -1, ""

    def _joined(self, actor: Actor, asked: Mapping[str, Any], is_news: bool) -> None:
        """``is_news``: False if the answer repeats id and generation; then the timeouts stay."""
        member_id, instance = actor.member_id, asked.get("group_instance_id")
        replaced = [one for one, of in self.instances.items() if of == instance]
        if instance is not None:
            self.instances[member_id] = instance
        actor.instance, actor.kind = instance, asked["protocol_type"]
        is_short = asked["session_timeout_ms"] < SESSION_MS
        if is_news:
            actor.mortal = is_short
        # A static member that comes back has the session of its old id until its first heartbeat.
        if is_short or self.mortals & set(replaced):
            self.mortals.add(member_id)
        if actor.generation > self.generation:
            self.generation, self.leader = actor.generation, actor.leader
            self.synced.clear()
        elif self.leader in replaced:
            self.leader = member_id
        if self.synced & set(replaced):
            self.synced.add(member_id)

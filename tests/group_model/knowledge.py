"""What the clients of a group have been told, in symbols: the same at both brokers.

No model of a coordinator: as much as is needed to send what a client would send, and to know whose
session runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.codec.error_code import ErrorCode
from tests.group_model.difference import Asked
from tests.group_model.steps import ACTORS

SESSION_MS = 300_000
"""Nobody who was given this is given up while we play."""
MORTAL_SESSION_MS = 1_500
REBALANCE_MS, HASTY_REBALANCE_MS = 300_000, 2_000

_LOST = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)


@dataclass(slots=True)
class Actor:
    """One client, with what it was told last.

    Attributes:
        instance: of its last join; None for a dynamic member.
        joined: whether it knows a generation for which it has not synced.
        synced: whether it has its part of that generation.
        mortal: whether its last join asked for a short session.
        waits: the requests of it that are not answered.
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
        """Whether the last join made it the leader."""
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
    """All clients, and what they know together.

    Attributes:
        generation: the highest that an answer told.
        leader: of that generation; its id now, if it has come back under another one.
        hasty: whether all members grant little time for a rebalance.
        synced: who has its part of that generation.
        mortals: ids that have to be heard of, as their sessions are short.
        instances: of the ids that belong to static members.
    """

    actors: list[Actor] = field(default_factory=lambda: [Actor(n) for n in range(ACTORS)])
    generation: int = -1
    leader: str = ""
    hasty: bool = False
    synced: set[str] = field(default_factory=set)
    mortals: set[str] = field(default_factory=set)
    instances: dict[str, str] = field(default_factory=dict)

    def hears(self, asked: Asked, said: Mapping[str, Any]) -> None:
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
        """``is_news``: not told again what it knew, in which case its timeouts stay."""
        member_id, instance = actor.member_id, asked.get("group_instance_id")
        replaced = [one for one, of in self.instances.items() if of == instance]
        if instance is not None:
            self.instances[member_id] = instance
        actor.instance, actor.kind = instance, asked["protocol_type"]
        is_short = asked["session_timeout_ms"] < SESSION_MS
        if is_news:
            actor.mortal = is_short
        # Who comes back has the session of who was there, until it is heard of.
        if is_short or self.mortals & set(replaced):
            self.mortals.add(member_id)
        if actor.generation > self.generation:
            self.generation, self.leader = actor.generation, actor.leader
            self.synced.clear()
        elif self.leader in replaced:
            self.leader = member_id
        if self.synced & set(replaced):
            self.synced.add(member_id)

"""Names in a message: topics with their partitions, groups, transactional ids, replicas.

Their places are a table of field names, for all messages; tests compare it with the entity types of
the schemas.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID

from harness.codec.layout import layout
from harness.codec.messages import FindCoordinatorRequest
from harness.codec.specs import ZERO_UUID, FieldSpec, MessageSpec, StructSpec
from harness.codec.structs import Message


class Role(Enum):
    """The kind of thing that a field names."""

    TOPIC = "topic"
    TOPIC_ID = "topic id"
    PARTITION = "partition"
    GROUP = "group"
    TRANSACTIONAL_ID = "transactional id"
    REPLICA = "replica"


_NAMES: dict[str, Role] = {
    "topic": Role.TOPIC,
    "topic_name": Role.TOPIC,
    "topic_names": Role.TOPIC,
    "subscribed_topic_names": Role.TOPIC,
    "source_topics": Role.TOPIC,
    "sink_topic": Role.TOPIC,
    "repartition_sink_topics": Role.TOPIC,
    "topic_id": Role.TOPIC_ID,
    "partition": Role.PARTITION,
    "partition_index": Role.PARTITION,
    "partition_id": Role.PARTITION,
    "partition_indexes": Role.PARTITION,
    "group_id": Role.GROUP,
    "group_ids": Role.GROUP,
    "groups_names": Role.GROUP,
    "transactional_id": Role.TRANSACTIONAL_ID,
    "transactional_ids": Role.TRANSACTIONAL_ID,
    "v3_and_below_transactional_id": Role.TRANSACTIONAL_ID,
    "replica_id": Role.REPLICA,
}
"""Fields that mean the same in every message."""
_SCALAR_ARRAYS = {"partitions": Role.PARTITION, "groups": Role.GROUP}
"""Fields that mean it where they are arrays of plain values."""
_TOPICS = ("topics", "topic_data", "topic_results", "v3_and_below_topics", "responses", "results",
           "results_by_topic_v3_and_below", "state_changelog_topics",
           "repartition_source_topics")  # fmt: skip
_INDEXED = ("partition_data", "partition_responses", "partitions")
_INSIDE: dict[str, tuple[tuple[str, ...], Role]] = {
    "name": (_TOPICS, Role.TOPIC),
    "index": (_INDEXED, Role.PARTITION),
}
"""Fields that mean it inside the arrays of these names."""
_KINDS = {
    Role.TOPIC: "string",
    Role.TOPIC_ID: "uuid",
    Role.PARTITION: "int32",
    Role.GROUP: "string",
    Role.TRANSACTIONAL_ID: "string",
    Role.REPLICA: "int32",
}
_COORDINATOR_KEYS = {0: "groups", 1: "transactional_ids"}
"""FindCoordinator: what its keys are, by key type."""


@dataclass(slots=True)
class TopicMention:
    """A topic by name or id (or neither: partitions that stand alone) and partitions of it."""

    name: str | None = None
    id: UUID | None = None
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Mentions:
    topics: list[TopicMention] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    transactional_ids: list[str] = field(default_factory=list)
    replicas: list[int] = field(default_factory=list)


NOTHING = Mentions()


def role_of(found: FieldSpec, inside: str) -> Role | None:
    """Return the role of a field, None without one.

    ``inside``: the name of the field that holds its struct, or "".
    """
    is_array = found.kind == "array"
    role = _NAMES.get(found.name)
    if role is None and is_array:
        role = _SCALAR_ARRAYS.get(found.name)
    elif role is None:
        holders, meant = _INSIDE.get(found.name, ((), None))
        role = meant if inside in holders else None
    kind = found.element if is_array else found.kind
    return role if role and kind == _KINDS[role] else None


@dataclass(slots=True)
class _Plan:
    """The fields of a struct at one version that name something, and those that lead to them."""

    roles: list[tuple[str, Role]] = field(default_factory=list)
    inner: list[tuple[str, _Plan]] = field(default_factory=list)
    of_topic: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.roles and not self.inner


_plans: dict[tuple[type[Message], int], _Plan] = {}


def _plan(spec: MessageSpec, struct: StructSpec, version: int, inside: str) -> _Plan:
    own = layout(spec, struct, version)
    plan = _Plan()
    for slot in (*own.plain, *own.tagged.values()):
        found = slot.field
        role = role_of(found, inside)
        if role:
            plan.roles.append((found.name, role))
        elif found.struct is not None and found.struct is not struct:
            inner = _plan(spec, found.struct, version, found.name)
            if not inner.is_empty:
                plan.inner.append((found.name, inner))
    plan.of_topic = any(role in (Role.TOPIC, Role.TOPIC_ID) for _, role in plan.roles)
    return plan


def mentions(message: Message, version: int) -> Mentions:
    """Return all names in the message at this version."""
    cls = type(message)
    plan = _plans.get((cls, version))
    if plan is None:
        plan = _plans[cls, version] = _plan(cls.message_spec, cls.spec, version, "")
    found = Mentions()
    _walk(message, plan, None, found)
    if isinstance(message, FindCoordinatorRequest):
        keys = [message.key, *message.coordinator_keys]
        kind = _COORDINATOR_KEYS.get(message.key_type)
        if kind:
            getattr(found, kind).extend(key for key in keys if key)
    return found


def _walk(value: Any, plan: _Plan, topic: TopicMention | None, found: Mentions) -> None:
    if plan.of_topic:
        topic = TopicMention()
        found.topics.append(topic)
    for name, role in plan.roles:
        held = getattr(value, name)
        _note(role, held if isinstance(held, list) else [held], topic, found)
    for name, inner in plan.inner:
        held = getattr(value, name)
        for one in held if isinstance(held, list) else [held]:
            if one is not None:
                _walk(one, inner, topic, found)


def _note(role: Role, held: Iterable[Any], topic: TopicMention | None, found: Mentions) -> None:
    for one in held:
        if one is None or one in ("", ZERO_UUID):
            continue
        if role is Role.TOPIC:
            _name(one, topic, found)
        elif role is Role.TOPIC_ID and topic is not None:
            topic.id = one
        elif role is Role.PARTITION:
            if topic is None:
                found.topics.append(TopicMention(partitions=[one]))
            else:
                topic.partitions.append(one)
        else:
            _LISTS[role](found).append(one)


def _name(name: str, topic: TopicMention | None, found: Mentions) -> None:
    """The first name belongs to the struct's own topic, further ones are topics beside it."""
    if topic is not None and topic.name is None:
        topic.name = name
    else:
        found.topics.append(TopicMention(name))


_LISTS: dict[Role, Any] = {
    Role.GROUP: lambda found: found.groups,
    Role.TRANSACTIONAL_ID: lambda found: found.transactional_ids,
    Role.REPLICA: lambda found: found.replicas,
}

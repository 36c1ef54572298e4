"""The conversations that a broker with other clients may get: they touch nothing of those."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.differential.conversation import Conversation, ConversationStep, Fields

_EMPTY = ""


def _group(fields: Fields) -> bool:
    return fields.get("group_id") == _EMPTY


def _groups(fields: Fields) -> bool:
    return _EMPTY in (fields.get("groups_names") or ())


def _everything(fields: Fields) -> bool:
    return fields.get("topic_partitions") is None


def _unnamed_entity(fields: Fields) -> bool:
    return any(
        entity.get("entity_name") in (_EMPTY, None)
        for entry in fields.get("entries") or ()
        for entity in entry.get("entity") or ()
    )


SHARED: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "JoinGroup": _group,
    "SyncGroup": _group,
    "Heartbeat": _group,
    "LeaveGroup": _group,
    "OffsetCommit": _group,
    "OffsetDelete": _group,
    "DeleteGroups": _groups,
    "ElectLeaders": _everything,
    "AlterClientQuotas": _unnamed_entity,
}
"""For each API that changes objects: True for a request that names an object of all clients."""


def without_shared(conversations: Iterator[Conversation]) -> Iterator[Conversation]:
    """Yield the conversations without the requests that change an object of all clients."""
    for one in conversations:
        kept = [step for step in one.steps if not is_shared(step)]
        if kept:
            yield one.with_steps(kept)


def names_group_of_all(conversation: Conversation) -> bool:
    """True if a request is about the group with the empty name, the state of which depends on what
    other clients did before."""
    return any(_EMPTY in _groups_named(step) for step in conversation.steps)


def _groups_named(step: ConversationStep) -> list[Any]:
    fields = step.fields
    listed = fields.get("groups_names") or fields.get("groups") or ()
    named = [one.get("group_id") if isinstance(one, Mapping) else one for one in listed]
    return [*named, fields.get("group_id")]


def is_shared(step: ConversationStep) -> bool:
    """True if a request changes an object of all clients."""
    return step.api in SHARED and SHARED[step.api](step.fields)

"""Conditions on a conversation for an explanation to count, by name.

Each condition gets the steps up to and including the one with different answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.codec.specs import INT_RANGES, ZERO_UUID
from harness.differential.conversation import ConversationStep

_FIRST_FETCH_BY_ID = 13
_RESOURCE_TYPES = (2, 4, 8, 16, 32)
_LONGEST_PAGE = 2000  # max.request.partition.size.limit
_SET_OR_DELETE, _OF_LISTS = (0, 1), (2, 3)
_ONLY_BROKER = 1
_ELECTION_TYPES = (0, 1)
_NO_ID = str(ZERO_UUID)
_LONGEST_METADATA = 4096  # offset.metadata.max.bytes


def _names_a_resource_twice(steps: Sequence[ConversationStep]) -> bool:
    """By the type as ConfigResource.Type.forId has it: all that it does not know is one."""
    resources = steps[-1].fields.get("resources", [])
    kinds = [one.get("resource_type", 0) for one in resources]
    known = [kind if kind in _RESOURCE_TYPES else 0 for kind in kinds]
    names = [one.get("resource_name", "") for one in resources]
    named = Counter(zip(known, names, strict=True))
    return any(count > 1 for count in named.values())


def _names_a_topic_without_id(steps: Sequence[ConversationStep]) -> bool:
    """And another partition; in a session what earlier requests named counts too."""
    asked = [steps[-1]]
    if steps[-1].fields.get("session_epoch", -1) > 0:
        asked = [step for step in steps if step.api == "Fetch"]
    found = {each for step in asked for each in _fetched(step)}
    return len(found) > 1 and any(topic_id == _NO_ID for topic_id, _ in found)


def _fetches_no_id(steps: Sequence[ConversationStep]) -> bool:
    return any(topic_id == _NO_ID for topic_id, _ in _fetched(steps[-1]))


def _asks_for_no_group(steps: Sequence[ConversationStep]) -> bool:
    return not steps[-1].fields.get("groups")


def _fetched(step: ConversationStep) -> Iterator[tuple[Any, Any]]:
    if step.version >= _FIRST_FETCH_BY_ID:
        for topic in step.fields.get("topics", []):
            for part in topic.get("partitions", []):
                yield topic.get("topic_id", _NO_ID), part.get("partition", 0)


def _describes_no_name(steps: Sequence[ConversationStep]) -> bool:
    fields = steps[-1].fields
    named = [topic.get("name", "") for topic in fields.get("topics", [])]
    return "" in named and fields.get("cursor") is None


def _pages_beyond_int32(steps: Sequence[ConversationStep]) -> bool:
    fields = steps[-1].fields
    limit = max(1, min(fields.get("response_partition_limit", 2000), _LONGEST_PAGE))
    cursor = fields.get("cursor") or {}
    return bool(cursor.get("partition_index", 0) + limit > INT_RANGES["int32"][1])


def _mixes_unknown_operations(steps: Sequence[ConversationStep]) -> bool:
    """With those of lists, which not every config can be changed by."""
    for resource in steps[-1].fields.get("resources", []):
        said = {config.get("config_operation", 0) for config in resource.get("configs", [])}
        if said - {*_SET_OR_DELETE, *_OF_LISTS} and said & {*_OF_LISTS}:
            return True
    return False


def _produces_null(steps: Sequence[ConversationStep]) -> bool:
    topics = steps[-1].fields.get("topic_data", [])
    data = [part for topic in topics for part in topic.get("partition_data", [])]
    return any(part.get("records") is None for part in data)


def _assigns_to_others(steps: Sequence[ConversationStep]) -> bool:
    assigned = [
        one.get("broker_ids", [])
        for topic in steps[-1].fields.get("topics", [])
        for one in topic.get("assignments", [])
    ]
    return any(not ids or {*ids} - {_ONLY_BROKER} for ids in assigned)


def _numbers_with_gaps(steps: Sequence[ConversationStep]) -> bool:
    for topic in steps[-1].fields.get("topics", []):
        numbers = {one.get("partition_index", 0) for one in topic.get("assignments", [])}
        if numbers != {*range(len(numbers))}:
            return True
    return False


def _has_ended_by_number(steps: Sequence[ConversationStep]) -> bool:
    """True if an end had an epoch that need not be the newest one."""
    ends = [step.fields.get("producer_epoch", 0) for step in steps if step.api == "EndTxn"]
    return any(isinstance(epoch, int) and epoch > 0 for epoch in ends)


def _writes_several_markers(steps: Sequence[ConversationStep]) -> bool:
    return len(steps[-1].fields.get("markers", [])) > 1


def _elects_all_by_unknown_type(steps: Sequence[ConversationStep]) -> bool:
    fields = steps[-1].fields
    is_known = fields.get("election_type", 0) in _ELECTION_TYPES
    return not is_known and fields.get("topic_partitions", []) is None


def _names_no_node(steps: Sequence[ConversationStep]) -> bool:
    """True if a name of a topic cannot be a part of a path in a ZooKeeper."""
    topics = steps[-1].fields.get("topics", [])
    return any(topic.get("name", "") in ("", ".", "..") for topic in topics)


def _has_produced_in_sequence(steps: Sequence[ConversationStep]) -> bool:
    """True if an earlier batch has a producer's id, so that its sequence may be refused."""
    produced = [step for step in steps[:-1] if step.api == "Produce"]
    return any("'producer_id'" in repr(step.fields) for step in produced)


def _has_produced_headers(steps: Sequence[ConversationStep]) -> bool:
    produced = [step for step in steps[:-1] if step.api == "Produce"]
    return any("'headers'" in repr(step.fields) for step in produced)


def _names_no_group(steps: Sequence[ConversationStep]) -> bool:
    return not steps[-1].fields.get("group_id")


def _follows_join_without_protocols(steps: Sequence[ConversationStep]) -> bool:
    joined = {
        step.fields.get("group_id", "")
        for step in steps[:-1]
        if step.api == "JoinGroup"
        and not step.fields.get("protocols")
        and not step.fields.get("member_id")
    }
    return _is_about(joined, steps[-1])


def _follows_too_long_metadata(steps: Sequence[ConversationStep]) -> bool:
    refused = {
        step.fields.get("group_id", "")
        for step in steps[:-1]
        if step.api == "OffsetCommit"
        for topic in step.fields.get("topics", [])
        for part in topic.get("partitions", [])
        if len(part.get("committed_metadata") or "") > _LONGEST_METADATA
    }
    return _is_about(refused, steps[-1])


def _is_about(groups: set[str], step: ConversationStep) -> bool:
    """True if the request names any of the groups, or lists groups."""
    return bool(groups) and (step.api == "ListGroups" or bool(groups & _groups_named(step)))


def _groups_named(step: ConversationStep) -> set[str]:
    fields = step.fields
    return set(fields["groups"]) if "groups" in fields else {fields.get("group_id", "")}


CONDITIONS: Mapping[str, Callable[[Sequence[ConversationStep]], bool]] = {
    "a resource is named twice": _names_a_resource_twice,
    "a topic without an id is fetched": _fetches_no_id,
    "a new partition is assigned to no broker, or to one that is not there": _assigns_to_others,
    "the partitions of a new topic are numbered with gaps": _numbers_with_gaps,
    "an unknown election of all partitions": _elects_all_by_unknown_type,
    "an end of a transaction had a number as its epoch": _has_ended_by_number,
    "several markers are written": _writes_several_markers,
    "records are null": _produces_null,
    "no group is asked for": _asks_for_no_group,
    "the group's name is empty": _names_no_group,
    "a join of the group had no protocols": _follows_join_without_protocols,
    "a commit of the group had metadata that is too long": _follows_too_long_metadata,
    "a topic's name is no part of a path": _names_no_node,
    "a batch of a producer with an id was sent": _has_produced_in_sequence,
    "a record with headers was sent": _has_produced_headers,
    "a topic without an id is fetched, and another partition": _names_a_topic_without_id,
    "a page would end behind the largest int32": _pages_beyond_int32,
    "an unknown operation stands beside one of lists": _mixes_unknown_operations,
    "a topic is described whose name is empty, without a cursor": _describes_no_name,
}

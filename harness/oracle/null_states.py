"""Conversations that bring a broker into the states in which it sends its nullable fields.

Each API gets its harmless request at every version; some get requests at every version after a
preparation; those of :data:`harness.oracle.subjects.SUBJECTS` get drawn requests too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.generator import Ranges, conversations, skeleton_fields
from harness.differential.openings import Request, known_fields
from harness.oracle.subjects import SUBJECTS, companions_of

NODE = "$node"
"""In a name: the id of the broker."""
_TOPIC_RESOURCE, _BROKER_RESOURCE, _SCRAM_SHA_256 = 2, 4, 1
_MEMBER_ID = "AAAAAAAAAAAAAAAAAAAAEA"
"""An id as share groups and streams groups have it: 16 bytes in base64."""
_NEW = {"name": "$name-a", "num_partitions": 1, "replication_factor": 1}
_TOPIC: Request = ("CreateTopics", {"topics": [_NEW], "timeout_ms": 30_000})


@dataclass(frozen=True, slots=True)
class NullState:
    """Requests of one API that follow a preparation.

    Attributes:
        prepared: requests of other APIs, each at the highest version that the broker serves.
        asked: fields of requests of the API, sent at every version.
        after: requests that remove what the preparation made, beside topics, groups and quotas.
    """

    prepared: tuple[Request, ...]
    asked: tuple[Mapping[str, Any], ...]
    after: tuple[Request, ...] = ()


def _fetch(partition: int, isolation_level: int) -> Mapping[str, Any]:
    asked = {"partition": partition, "partition_max_bytes": 1 << 20}
    topic = {"topic": "$name-a", "topic_id": "$topic_id:0", "partitions": [asked]}
    return {"replica_id": -1, "session_epoch": -1, "max_bytes": 1 << 20,
            "isolation_level": isolation_level, "topics": [topic]}  # fmt: skip


def _configs(kind: int, name: str, documented: bool) -> Mapping[str, Any]:
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
    return {"resources": [resource], "include_synonyms": True, "include_documentation": documented}


def _coordinator(kind: int) -> Mapping[str, Any]:
    return {"key": "$name-g", "coordinator_keys": ["$name-g"], "key_type": kind}


_QUOTA = {"key": "consumer_byte_rate", "value": 1e9, "remove": False}
_USER = {"entity_type": "user", "entity_name": "$name-u"}
_QUOTA_OF_USER = {"entity": [_USER], "ops": [_QUOTA]}
_OF_USER = {"entity_type": "user", "match_type": 0, "match": "$name-u"}
_CREDENTIAL = {"name": "$name-u", "mechanism": _SCRAM_SHA_256}
_UPSERTED = {**_CREDENTIAL, "iterations": 4096, "salt": "00" * 16, "salted_password": "01" * 32}
_MEMBER = {"member_id": _MEMBER_ID, "member_epoch": 0, "subscribed_topic_names": ["$name-a"]}
_CONSUMER = {**_MEMBER, "group_id": "$name-c", "rebalance_timeout_ms": 60_000,
             "topic_partitions": []}  # fmt: skip
_SHARING = {**_MEMBER, "group_id": "$name-s"}
_SHARED = {"topic_id": "$topic_id:0",
           "partitions": [{"partition_index": 0, "acknowledgement_batches": []}]}  # fmt: skip
_SHARE_FETCH = {"group_id": "$name-s", "member_id": _MEMBER_ID, "share_session_epoch": 0,
                "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, "max_records": 1,
                "batch_size": 1, "topics": [_SHARED]}  # fmt: skip
_SUBTOPOLOGY = {"subtopology_id": "0", "source_topics": ["$name-a"], "source_topic_regex": [],
                "state_changelog_topics": [], "repartition_sink_topics": [],
                "repartition_source_topics": [], "copartition_groups": []}  # fmt: skip
_STREAMING = {"group_id": "$name-t", "member_id": _MEMBER_ID, "member_epoch": 0,
              "rebalance_timeout_ms": 60_000, "process_id": "process",
              "topology": {"epoch": 0, "subtopologies": [_SUBTOPOLOGY]}, "active_tasks": [],
              "standby_tasks": [], "warmup_tasks": [], "client_tags": []}  # fmt: skip

STATES: Mapping[str, NullState] = {
    "Fetch": NullState(
        (_TOPIC, ("Metadata", {"topics": [{"name": "$name-a"}]})),
        tuple(_fetch(partition, level) for partition in (0, 99) for level in (0, 1)),
    ),
    "DescribeConfigs": NullState(
        (_TOPIC,),
        tuple(
            _configs(kind, name, documented)
            for kind, name in ((_BROKER_RESOURCE, NODE), (_TOPIC_RESOURCE, "$name-a"))
            for documented in (False, True)
        ),
    ),
    "DescribeClientQuotas": NullState(
        (("AlterClientQuotas", {"entries": [_QUOTA_OF_USER]}),), ({"components": [_OF_USER]},)
    ),
    "DescribeUserScramCredentials": NullState(
        (("AlterUserScramCredentials", {"deletions": [], "upsertions": [_UPSERTED]}),),
        ({"users": [{"name": "$name-u"}]},),
        (("AlterUserScramCredentials", {"deletions": [_CREDENTIAL], "upsertions": []}),),
    ),
    "AlterUserScramCredentials": NullState(
        (), ({"upsertions": [_UPSERTED]}, {"deletions": [_CREDENTIAL], "upsertions": []})
    ),
    "FindCoordinator": NullState((), tuple(_coordinator(kind) for kind in (2, 9))),
    "AlterPartitionReassignments": NullState((), ({"timeout_ms": 30_000, "topics": []},)),
    "ConsumerGroupHeartbeat": NullState((_TOPIC,), (_CONSUMER,)),
    "ConsumerGroupDescribe": NullState(
        (_TOPIC, ("ConsumerGroupHeartbeat", _CONSUMER)), ({"group_ids": ["$name-c"]},)
    ),
    "ShareGroupHeartbeat": NullState((_TOPIC,), (_SHARING,)),
    "ShareGroupDescribe": NullState(
        (_TOPIC, ("ShareGroupHeartbeat", _SHARING)), ({"group_ids": ["$name-s"]},)
    ),
    "ShareFetch": NullState(
        (_TOPIC, ("Metadata", {"topics": [{"name": "$name-a"}]}),
         ("ShareGroupHeartbeat", _SHARING)),
        (_SHARE_FETCH,),
    ),
    "StreamsGroupHeartbeat": NullState((_TOPIC,), (_STREAMING,)),
    "StreamsGroupDescribe": NullState(
        (_TOPIC, ("StreamsGroupHeartbeat", _STREAMING)), ({"group_ids": ["$name-t"]},)
    ),
}  # fmt: skip
"""By the API that sends the nullable fields."""


def conversations_about(
    api: str, served: Ranges, node: int, exchanges: int, *, drawn: bool | None = None
) -> Iterator[Conversation]:
    """Yield conversations about an API, the same ones for the same versions.

    ``exchanges``: at least so many are drawn. ``drawn``: whether any are; by default those about
    the SUBJECTS, of which each request is harmless.
    """
    every = tuple(ConversationStep(api, v, skeleton_fields(api, v)) for v in served[api])
    yield Conversation(f"{api}: the harmless request", every)
    if api in STATES:
        yield Conversation(f"{api}: a state", tuple(_steps(api, STATES[api], served, node)))
    if (api in SUBJECTS) if drawn is None else drawn:
        yield from _drawn(api, served, exchanges)


def _steps(api: str, state: NullState, served: Ranges, node: int) -> Iterator[ConversationStep]:
    yield from _others(state.prepared, served)
    for version in served[api]:
        for fields in state.asked:
            known = known_fields(api, version, fields)
            yield ConversationStep(api, version, _with_node(known, str(node)))
    yield from _others(state.after, served)


def _others(requests: tuple[Request, ...], served: Ranges) -> Iterator[ConversationStep]:
    for other, fields in requests:
        if other in served:
            highest = served[other].highest
            yield ConversationStep(other, highest, known_fields(other, highest, fields))


def _with_node(value: Any, node: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_node(inner, node) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_node(inner, node) for inner in value]
    return node if value == NODE else value


def _drawn(api: str, served: Ranges, exchanges: int) -> Iterator[Conversation]:
    only = [api, *companions_of(api)] if api in SUBJECTS else [api]
    left = exchanges
    for one in conversations(crc32(api.encode()), served, only, about=api):
        if left <= 0:
            return
        yield one
        left -= len(one.steps)

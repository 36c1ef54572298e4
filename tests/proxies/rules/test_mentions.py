"""The table of field names covers exactly the fields that the schemas mark by entity types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harness.codec
from harness.codec.apis import APIS
from harness.codec.definition import snake_case
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    DeleteTopicsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    LeaderAndIsrRequest,
)
from harness.codec.specs import StructSpec
from harness.codec.structs import Message
from harness.proxies.rules.mentions import Mentions, Role, TopicMention, mentions, role_of
from tests.proxies.rules.traffic import ORDERS_ID, fetch_by_id, produce

SCHEMAS = Path(harness.codec.__file__).parent / "schemas"
ENTITIES = {
    "topicName": Role.TOPIC,
    "groupId": Role.GROUP,
    "transactionalId": Role.TRANSACTIONAL_ID,
}
UNMARKED_GROUPS = re.compile(r"(\w+ShareGroupState\w*)Request\.group_id")
"""The share coordinator's own requests, in which Kafka marks no entities."""


def definitions() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(SCHEMAS.glob("*Re*.json")):
        if "@" in path.name:
            continue
        text = re.sub(r"^\s*//.*$|\s//.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
        found = json.loads(text)
        if found["type"] in ("request", "response"):
            yield found["name"], found


def marked(
    fields: list[dict[str, Any]], structs: dict[str, Any], path: str, depth: int = 0
) -> Iterator[tuple[str, Role]]:
    """Path and role of every field with one of the entity types."""
    for one in fields:
        name = f"{path}.{snake_case(one['name'])}"
        if one.get("entityType") in ENTITIES:
            yield name, ENTITIES[one["entityType"]]
        inner = one.get("fields") or structs.get(one["type"].removeprefix("[]"))
        if inner and depth < 8:
            yield from marked(inner, structs, name, depth + 1)


def found(
    spec: StructSpec, path: str, inside: str = "", depth: int = 0
) -> Iterator[tuple[str, Role]]:
    """Path and role of every field that the table names."""
    for one in spec.fields:
        name = f"{path}.{one.name}"
        role = role_of(one, inside)
        if role in ENTITIES.values():
            assert role is not None
            yield name, role
        if one.struct is not None and depth < 8:
            yield from found(one.struct, name, one.name, depth + 1)


def messages() -> Iterator[type[Message]]:
    for api in APIS.values():
        yield api.request
        yield api.response


def test_mention_table_matches_entity_types_of_all_schemas() -> None:
    wanted: set[tuple[str, Role]] = set()
    for name, definition in definitions():
        structs = {s["name"]: s["fields"] for s in definition.get("commonStructs", [])}
        wanted |= set(marked(definition["fields"], structs, name))
    assert len(wanted) > 130
    there = {one for cls in messages() for one in found(cls.spec, cls.__name__)}
    beyond = {(path, role) for path, role in there - wanted if not UNMARKED_GROUPS.match(path)}
    assert wanted - there == set()
    assert beyond == set()


def test_partition_fields_are_mapped_except_listed_ones() -> None:
    """Each struct with a plain number or numbers called partition or index is one, or is listed."""
    left_out = {
        f"{cls.__name__}.{path}"
        for cls in messages()
        for path in unnamed_partitions(cls.spec, "", "")
    }
    assert left_out == {
        "CreateTopicsResponse.topics.num_partitions",
        "CreateTopicsRequest.topics.num_partitions",
        "DescribeTopicPartitionsRequest.response_partition_limit",
        "FetchRequest.topics.partitions.partition_max_bytes",
        "ShareFetchRequest.topics.partitions.partition_max_bytes",
        "ProduceResponse.responses.partition_responses.record_errors.batch_index",
        *(f"{api}.topics.partitions.partition_epoch" for api in ("AlterPartitionRequest",
                                                                 "AlterPartitionResponse")),
        *(f"LeaderAndIsrRequest.{at}.partition_epoch" for at in (
            "ungrouped_partition_states", "topic_states.partition_states")),
        *(f"StreamsGroup{api}.{where}.{topics}.partitions"
          for api, where in (("DescribeResponse", "groups.topology.subtopologies"),
                             ("HeartbeatRequest", "topology.subtopologies"))
          for topics in ("state_changelog_topics", "repartition_source_topics")),
    }  # fmt: skip


def unnamed_partitions(spec: StructSpec, path: str, inside: str, depth: int = 0) -> Iterator[str]:
    for one in spec.fields:
        name = f"{path}.{one.name}" if path else one.name
        number = "int32" in (one.kind, one.element)
        if number and re.search("partition|index", one.name) and role_of(one, inside) is None:
            yield name
        if one.struct is not None and depth < 8:
            yield from unnamed_partitions(one.struct, name, one.name, depth + 1)


def test_topic_mention_contains_its_partitions() -> None:
    assert mentions(produce("orders", [0, 3]), 9).topics == [TopicMention("orders", None, [0, 3])]


def test_topic_mention_may_contain_topic_id() -> None:
    assert mentions(fetch_by_id(ORDERS_ID, 2), 13).topics == [TopicMention(None, ORDERS_ID, [2])]


def test_mentions_ignore_fields_absent_in_version() -> None:
    """A follower's id moved; the old field has its default and is ignored."""
    message = FetchRequest(replica_state=FetchRequest.ReplicaState(replica_id=2))
    assert mentions(message, 15).replicas == [2]
    assert mentions(FetchRequest(replica_id=3), 12).replicas == [3]


def test_topic_name_list_gives_one_mention_per_name() -> None:
    found_names = mentions(DeleteTopicsRequest(topic_names=["a", "b"]), 1).topics
    assert found_names == [TopicMention("a"), TopicMention("b")]


def test_nested_partitions_belong_to_enclosing_topic() -> None:
    states = [LeaderAndIsrRequest.LeaderAndIsrPartitionState(partition_index=4)]
    message = LeaderAndIsrRequest(
        topic_states=[
            LeaderAndIsrRequest.LeaderAndIsrTopicState(topic_name="t", partition_states=states)
        ]
    )
    assert mentions(message, 3).topics == [TopicMention("t", None, [4])]


def test_transactional_ids_of_both_forms_are_found() -> None:
    old = AddPartitionsToTxnRequest(v3_and_below_transactional_id="tx")
    batched = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction(transactional_id="tx")
    new = AddPartitionsToTxnRequest(transactions=[batched])
    assert mentions(old, 3).transactional_ids == ["tx"]
    assert mentions(new, 4).transactional_ids == ["tx"]


@pytest.mark.parametrize(
    ("message", "version", "wanted"),
    [
        (FindCoordinatorRequest(key="g"), 0, Mentions(groups=["g"])),
        (FindCoordinatorRequest(key="t", key_type=1), 1, Mentions(transactional_ids=["t"])),
        (FindCoordinatorRequest(coordinator_keys=["a", "b"]), 4, Mentions(groups=["a", "b"])),
        (FindCoordinatorRequest(coordinator_keys=["a"], key_type=2), 6, Mentions()),
    ],
)
def test_coordinator_keys_are_groups_or_transactional_ids(
    message: Message, version: int, wanted: Mentions
) -> None:
    assert mentions(message, version) == wanted

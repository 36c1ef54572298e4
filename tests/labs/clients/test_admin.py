"""Topics, their configs, partitions and records, by each client's admin calls."""

from __future__ import annotations

from harness.clients.records import FOR_EVER, in_partition, numbered
from harness.targets.target import Target
from labs.clients.here import Here, awaited, for_clients


@for_clients("create_topic", "list_topics", "describe_topic", "delete_topic")
def test_topic_is_created_described_and_deleted(client: Here, target: Target, name: str) -> None:
    calls = client.calls
    client.create(name, 3)
    awaited(calls.list_topics, lambda found: name in found, "the topic is listed")
    (node,) = target.nodes or (1,)
    assert calls.describe_topic(name) == [
        {"partition": partition, "leader": node, "replicas": [node], "isr": [node]}
        for partition in range(3)
    ]
    calls.delete_topic(name)
    awaited(calls.list_topics, lambda found: name not in found, "the topic is gone")


@for_clients("create_topic", "describe_configs", "alter_configs")
def test_topic_configs_are_described_and_altered(client: Here, name: str) -> None:
    calls = client.calls
    client.create(name, 1, {"retention.ms": "5000000000", "cleanup.policy": "compact"})
    given = calls.describe_configs(name)
    assert given["retention.ms"] == "5000000000"
    assert given["cleanup.policy"] == "compact"
    assert given["segment.bytes"] == "1073741824"  # the default
    new = {"retention.ms": "-1", "cleanup.policy": "delete", "max.message.bytes": "65536"}
    calls.alter_configs(name, new)
    after = awaited(
        lambda: calls.describe_configs(name),
        lambda found: found["max.message.bytes"] == "65536",
        "the new configs are told",
    )
    assert {key: after[key] for key in given} == {**given, **new}


@for_clients("create_partitions", "describe_topic")
def test_create_partitions_adds_writable_partitions(client: Here, name: str) -> None:
    calls = client.calls
    client.create(name, 1, FOR_EVER)
    calls.create_partitions(name, 4)
    found = awaited(
        lambda: calls.describe_topic(name), lambda found: len(found) == 4, "there are four"
    )
    assert [one["partition"] for one in found] == [0, 1, 2, 3]
    records = numbered(partitions=4, each=1)
    assert client.writer.produce(name, records) == [[partition, 0] for partition in range(4)]


@for_clients("delete_records", "read")
def test_delete_records_removes_records_before_offset(client: Here, name: str) -> None:
    calls = client.calls
    client.create(name, 2, FOR_EVER)
    records = numbered(partitions=2, each=5)
    client.writer.produce(name, records)
    assert calls.delete_records(name, {0: 3, 1: 1}) == {0: 3, 1: 1}
    for partition, first in ((0, 3), (1, 1)):
        left = in_partition(records, partition, offset=first)
        assert calls.read(name, partition, first, len(left)) == left

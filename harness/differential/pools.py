"""Values that a field may get, by its name: one table, read from top to bottom.

A pool has the values that a client may well send (``good``), and those that it may not send or
seldom sends (``edge``). Fields without a row get values by their type, and the value of the
harmless request. A row counts for ``API.field``, where ``field`` may be a path (``configs.name``);
``*`` is any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from harness.codec.specs import INT_RANGES, ZERO_UUID
from harness.differential.symbols import NOBODYS_NUMBER, NOBODYS_UUID

INT32_MAX = INT_RANGES["int32"][1]
LONG_NAME = "$name-" + "x" * 250


@dataclass(frozen=True, slots=True)
class Pool:
    """Values of a field; a repeated one is drawn more often. ``edge`` may be empty."""

    good: tuple[Any, ...]
    edge: tuple[Any, ...] = ()


_TOPICS = Pool(
    ("$name-a", "$name-a", "$name-a", "$name-b"),
    ("$name-never", "", ".", "$name/slash", "$name a", LONG_NAME, "$name.a", "$name_a"),
)
_TOPIC_IDS = Pool(("$topic_id:0", "$topic_id:0", "$topic_id:1"), (str(ZERO_UUID), NOBODYS_UUID))
_PARTITIONS = Pool((0, 0, 0, 1), (99, -1, INT32_MAX))
_GROUPS = Pool(("$name-g", "$name-g", "$name-h"), ("", "$name-nobody"))
_TRANSACTIONS = Pool(("$name-x",), ("", "$name-y"))
_EPOCHS = Pool((-1, -1, 0), (1, 99, -2))
_PRODUCERS = Pool(("$producer_id:0",), (-1, NOBODYS_NUMBER, 0))
_LIMITS = Pool((1 << 20,), (0, 1, 100, -1, INT32_MAX))
_CONFIG_NAMES = Pool(
    ("retention.ms", "cleanup.policy", "max.message.bytes"), ("not.a.config", "", "Retention.MS")
)


def _kept_for(*values: str | None) -> dict[str, Any]:
    """Fields of a topic with retention.ms once for each of these values."""
    return {"configs": [{"name": "retention.ms", "value": value} for value in values]}


POOLS: dict[str, Pool] = {
    "*.topics.name": _TOPICS,
    "DeleteTopics.topic_names": _TOPICS,
    "*.topic": _TOPICS,
    "*.topic_name": _TOPICS,
    "*.topic_data.name": _TOPICS,
    "DescribeTopicPartitions.cursor.topic_name": _TOPICS,
    "*.subscribed_topic_names": _TOPICS,
    "*.topic_id": _TOPIC_IDS,
    "*.forgotten_topics_data.partitions": _PARTITIONS,
    "*.partition": _PARTITIONS,
    "*.partition_index": _PARTITIONS,
    "*.partition_indexes": _PARTITIONS,
    "*.partitions": _PARTITIONS,
    "Produce.topic_data.partition_data.index": _PARTITIONS,
    "*.resource_name": _TOPICS,
    "*.resource_type": Pool((2,), (0, 99, -1)),  # a broker's, or all brokers', would be shared
    "*.configuration_keys": _CONFIG_NAMES,
    "*.config_operation": Pool((0, 1), (2, 3, 4, -1)),
    "*.entity_type": Pool(("user", "client-id"), ("ip", "nonsense", "")),
    "*.entity_name": Pool(("$name-u",), ("", "127.0.0.256")),  # null would slow everybody down
    "AlterClientQuotas.entries.ops.key": Pool(
        ("producer_byte_rate", "consumer_byte_rate", "request_percentage"), ("nonsense", "")
    ),
    # records
    "Produce.acks": Pool((-1, -1, 1), (0, 2, -2)),
    "Produce.timeout_ms": Pool((30_000,), (0, -1)),
    "Produce.transactional_id": Pool((None,), ("$name-x", "")),
    "*.timeout_ms": Pool((30_000,)),  # a short one is a race against the controller
    "*.max_wait_ms": Pool((0, 1), (-1, 50)),
    "*.min_bytes": Pool((0, 1), (-1, 100_000)),
    "*.max_bytes": _LIMITS,
    "*.partition_max_bytes": _LIMITS,
    "*.isolation_level": Pool((0, 1), (2, -1)),
    "*.fetch_offset": Pool((0, 0, 1, 2), (-1, 3, 100, -2)),
    "*.log_start_offset": Pool((-1, -1, 0), (5, -2)),
    "*.last_fetched_epoch": Pool((-1, -1, 0), (1, -2)),
    "*.current_leader_epoch": _EPOCHS,
    "*.leader_epoch": Pool((0, 0, -1), (1, 99, -2)),
    "*.replica_id": Pool((-1,), (-2,)),  # a broker's would take part in replication
    "Fetch.session_id": Pool((0,), (77,)),  # from 2147483640 on Kafka's own cache fails
    "*.rack_id": Pool(("",), ("nowhere",)),
    "*.cluster_id": Pool((None,), ("nobodys",)),
    "ListOffsets.topics.partitions.timestamp": Pool(
        (-1, -2, "$time:0", "$time:5", "$time:15"), (-3, -4, -5, -6, -7, 0, NOBODYS_NUMBER * 1000)
    ),
    "*.max_num_offsets": Pool((1,), (0, 2, 10)),
    "DeleteRecords.topics.partitions.offset": Pool((0, 1, 2, -1), (100, -2)),
    # topics
    "*.num_partitions": Pool((1, 2, 2, 3, -1), (0, -2)),
    "*.replication_factor": Pool((1, 1, -1), (0, 2, -2)),
    "*.broker_ids": Pool((1,), (2, -1)),
    "*.replicas": Pool((1,), (2, -1)),
    "CreatePartitions.topics.count": Pool((2, 3, 4), (1, 0, -1)),
    "*.response_partition_limit": Pool((2000,), (1, 2, 0, -1)),
    "*.election_type": Pool((0, 1), (2, -1)),
    # coordinators, groups, producers
    "FindCoordinator.key": _GROUPS,
    "*.coordinator_keys": _GROUPS,
    "*.key_type": Pool((0, 0, 1), (3, -1)),
    "*.group_id": _GROUPS,
    "*.group_ids": _GROUPS,
    "DescribeGroups.groups": _GROUPS,
    "*.groups_names": _GROUPS,
    "*.member_id": Pool(("$member_id:0", "$member_id:0", ""), ("$name-nobody",)),
    "*.group_instance_id": Pool((None,), ("$name-i", "")),
    "*.instance_id": Pool((None,), ("$name-i", "")),
    "*.generation_id": Pool((1, 1, -1), (0, 7, -2)),
    "*.generation_id_or_member_epoch": Pool((-1, 1), (0, 7, -2)),
    "*.member_epoch": Pool((0, 1), (-1, -2, 7)),
    "*.session_timeout_ms": Pool((300_000,), (1, -1, INT32_MAX)),
    "*.rebalance_timeout_ms": Pool((300_000,)),  # a short one is a race against the next step
    "*.protocol_type": Pool(("consumer",), ("", "other")),
    "*.protocol_name": Pool(("range",), ("", "other")),
    "JoinGroup.protocols.name": Pool(("range", "range", "sticky"), ("",)),
    "*.committed_offset": Pool((0, 5), (-1, -2)),
    "*.committed_leader_epoch": Pool((-1, 0), (-2, 9)),
    "*.committed_metadata": Pool(("", "note", None), ("x" * 5000,)),
    "*.commit_timestamp": Pool((-1,), (0, "$time:5")),
    "*.retention_time_ms": Pool((-1,), (100_000,)),
    "*.states_filter": Pool(("Stable", "Empty"), ("", "nonsense")),
    "*.types_filter": Pool(("classic", "consumer"), ("", "nonsense")),
    "InitProducerId.transactional_id": Pool((None,), ("",)),
    "*.transactional_id*": _TRANSACTIONS,
    "*.v3_and_below_transactional_id": _TRANSACTIONS,
    "*.transaction_timeout_ms": Pool((60_000,), (0, -1, 900_001)),
    "*.producer_id": _PRODUCERS,
    "*.v3_and_below_producer_id": _PRODUCERS,
    "*.producer_epoch": Pool((0, -1), (1, -2)),
    # brokers
    "*.client_software_name": Pool(("kafka-conformance",), ("", "-dash", "a b")),
    "*.client_software_version": Pool(("1.0",), ("", "-dash", "a b")),
    "ApiVersions.node_id": Pool((-1,)),
    "*.endpoint_type": Pool((1,), (2, 0, 3)),
    "*.mechanism": Pool(("PLAIN",), ("", "NONE")),
}

LENGTHS: dict[str, Pool] = {
    "CreateTopics.topics.assignments": Pool((0, 0, 0, 0, 1), (2,)),
    "CreatePartitions.topics.assignments": Pool((None, None, None, 1), (0, 2)),
    "CreateTopics.topics.configs": Pool((0, 0, 1), (2,)),
    # A protocol that is named twice leaves Kafka's coordinator without a choice, and the join
    # without an answer (ClassicGroup.selectProtocol).
    "JoinGroup.protocols": Pool((1,), (0,)),
    "Fetch.forgotten_topics_data": Pool((0, 0, 0, 1)),
    "DescribeTopicPartitions.topics": Pool((1, 1, 1, 2), (2,)),  # 0, all: see JOINT
    "DescribeConfigs.resources.configuration_keys": Pool((1, 2)),  # all: other defaults
    # Kafka never answers an empty list (KafkaApis.handleAddPartitionsToTxnRequest).
    "AddPartitionsToTxn.transactions": Pool((1, 1, 2)),
    "ListTransactions.*_filters": Pool((0, 0, 1), (2,)),
    # Nor a marker for a partition that is named twice (KafkaApis.handleWriteTxnMarkersRequest).
    "WriteTxnMarkers.markers": Pool((1,), (0, 2)),
    "WriteTxnMarkers.markers.topics": Pool((1,), (0,)),
    "WriteTxnMarkers.markers.topics.partition_indexes": Pool((1,), (0,)),
    "*": Pool((1, 1, 1, 2), (0, 0, None, 2)),
}
"""Numbers of elements of an array, None for null, by the same rules."""


def _assigned(*partitions: int, **more: Any) -> dict[str, Any]:
    """A topic with the brokers of these partitions chosen, and no counts but those in ``more``."""
    chosen = [{"partition_index": index, "broker_ids": [1]} for index in partitions]
    return {"num_partitions": -1, "replication_factor": -1, "assignments": chosen, **more}


def _grown(*brokers: tuple[int, ...], count: int = 3) -> dict[str, Any]:
    """A topic that grows to this count, with the brokers of each new partition."""
    return {"count": count, "assignments": [{"broker_ids": list(each)} for each in brokers]}


def _protocols(*names: str) -> dict[str, Any]:
    # Without metadata: Kafka 3.9 reads those of consumers, and fails at what is no subscription.
    return {"protocols": [{"name": name, "metadata": ""} for name in names]}


JOINT: dict[str, Pool] = {
    "CreatePartitions.topics": Pool(
        ({}, {}, {}, _grown((1,)), _grown((1,), (1,)), _grown((1,), count=2)),
        ({}, {}, _grown(), _grown((2,)), _grown((1, 1)), _grown((1,), (1, 2)), _grown(())),
    ),
    "JoinGroup": Pool(
        ({}, {}, _protocols("range", "sticky"), _protocols("sticky", "range")),
        ({}, _protocols("other", "sticky")),
    ),
    "CreateTopics.topics": Pool(
        ({}, {}, {}, {}, _assigned(0), _assigned(1, 0), _assigned()),
        (
            *({}, {}, {}, {}),
            *(_assigned(1), _assigned(0, 0), _assigned(0, 2), _assigned(-1, 0)),
            *(_assigned(0, num_partitions=1), _assigned(0, replication_factor=1)),
            *(_kept_for(*values) for values in ((None, "1000"), ("1000", None), ("many", "1000"))),
        ),
    ),
    "Fetch": Pool(
        ({}, {}, {"session_id": 0, "session_epoch": 0}),
        (
            {"session_id": "$session_id:0", "session_epoch": 1},
            {"session_id": "$session_id:0", "session_epoch": 1},
            {"session_id": "$session_id:0", "session_epoch": 2},
            {"session_id": "$session_id:0", "session_epoch": 0},
            {"session_id": "$session_id:0", "session_epoch": -1},
            {"session_id": 77, "session_epoch": 1},
            {"session_id": 0, "session_epoch": 5},
        ),
    ),
    "InitProducerId": Pool(
        ({"producer_id": -1, "producer_epoch": -1},),
        (
            {"producer_id": "$producer_id:0", "producer_epoch": 0},
            {"producer_id": "$producer_id:0", "producer_epoch": -1},
            {"producer_id": -1, "producer_epoch": 0},
        ),
    ),
    "DescribeTopicPartitions": Pool(
        ({},),
        # All topics: where a page of them ends depends on what other conversations made.
        ({}, {"topics": [], "response_partition_limit": 2000, "cursor": None}),
    ),
    "*.configs": Pool(
        (
            {"name": "retention.ms", "value": "86400000"},
            {"name": "cleanup.policy", "value": "compact"},
            {"name": "cleanup.policy", "value": "compact,delete"},
            {"name": "max.message.bytes", "value": "120"},
            {"name": "message.timestamp.type", "value": "LogAppendTime"},
            {"name": "compression.type", "value": "gzip"},
            {"name": "compression.type", "value": "uncompressed"},
            {"name": "min.insync.replicas", "value": "2"},
        ),
        (
            {"name": "not.a.config", "value": "1"},
            {"name": "retention.ms", "value": "many"},
            {"name": "retention.ms", "value": None},
            {"name": "retention.ms", "value": "-2"},
            {"name": "cleanup.policy", "value": "nonsense"},
            {"name": "", "value": ""},
        ),
    ),
}
"""Fields of one struct that are drawn together: what stands here outweighs :data:`POOLS`."""

BY_TYPE: dict[str, Pool] = {
    "bool": Pool((False, True)),
    "string": Pool(("$name-s",), ("",)),
    "bytes": Pool(("", "00"), ("ff",)),
    "uuid": Pool((NOBODYS_UUID,), (str(ZERO_UUID),)),
    "float64": Pool((1.0, 0.0), (-1.0, "NaN")),
    "uint16": Pool((0, 1)),
    "uint32": Pool((0, 1)),
} | {kind: Pool((0, 1), (-1, INT_RANGES[kind][1])) for kind in ("int8", "int16", "int32", "int64")}


def row_for(table: Mapping[str, Pool], path: str) -> Pool | None:
    """The first row that counts for ``API.path.to.field``."""
    return next((pool for name, pool in table.items() if fnmatchcase(path, name)), None)


def fitting_row(table: Mapping[str, Pool], path: str, kind: str) -> Pool | None:
    """The first row that counts and has values of this kind; only those."""
    for name, pool in table.items():
        if fnmatchcase(path, name):
            fitting = Pool(_fitting(kind, pool.good), _fitting(kind, pool.edge))
            if fitting.good:
                return fitting
    return None


def _fitting(kind: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in values if value is None or _fits(kind, value))


def _fits(kind: str, value: Any) -> bool:
    if kind in INT_RANGES:
        low, high = INT_RANGES[kind]
        return _stands_for(value, "int") or (type(value) is int and low <= value <= high)
    if kind == "uuid":
        return _stands_for(value, "uuid") or value in (NOBODYS_UUID, str(ZERO_UUID))
    return kind == "string" and isinstance(value, str) and not _stands_for(value, "int")


_BEGINNINGS = {
    "int": ("$time:", "$producer_id:", "$producer_epoch:", "$session_id:"),
    "uuid": ("$topic_id:",),
}


def _stands_for(value: Any, kind: str) -> bool:
    return isinstance(value, str) and value.startswith(_BEGINNINGS[kind])

"""Beginnings of conversations: state that requests drawn one by one would seldom create.

For example, without a group with an assigned member all requests about groups would be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.codec.apis import api_named
from harness.codec.layout import layout
from harness.differential.symbols import RECORDS

_MEMBER = {"group_id": "$name-g", "member_id": "$member_id:0", "generation_id": 1}
_RECORD = {"timestamp": "$time:5", "key": None, "value": b"value".hex()}
_NEW = {"name": "$name-a", "num_partitions": 2, "replication_factor": 1}
TOPIC = ("CreateTopics", {"topics": [_NEW], "timeout_ms": 30_000})
_RANGE = {"name": "range", "metadata": ""}
_JOINING = {"group_id": "$name-g", "protocol_type": "consumer", "protocols": [_RANGE],
            "session_timeout_ms": 300_000, "rebalance_timeout_ms": 300_000}  # fmt: skip
COMMITTED = {"name": "$name-a", "topic_id": "$topic_id:0",
              "partitions": [{"partition_index": 0, "committed_offset": 5}]}  # fmt: skip
_FETCHED = {"topic": "$name-a", "topic_id": "$topic_id:0",
            "partitions": [{"partition": 0, "partition_max_bytes": 1 << 20},
                           {"partition": 1, "partition_max_bytes": 1 << 20}]}  # fmt: skip

Request = tuple[str, Mapping[str, Any]]
JOINING = "JoinGroup"


@dataclass(frozen=True, slots=True)
class Opening:
    """``weight``: how often it is drawn. Fields that a version does not have are left out."""

    weight: int
    requests: tuple[Request, ...]

    @property
    def joins(self) -> bool:
        """True if a member joins a group."""
        return any(api == JOINING for api, _ in self.requests)


def produced(**change: Any) -> Request:
    batch = {"magic": 2, "records": [_RECORD, _RECORD], **change}
    partition = {"index": 0, "records": {RECORDS: [batch]}}
    topic = {"name": "$name-a", "topic_id": "$topic_id:0", "partition_data": [partition]}
    return "Produce", {"acks": -1, "timeout_ms": 30_000, "topic_data": [topic]}


# The first join may return only an id (KIP-394); one that has joined gets the same answer again.
_JOINED: tuple[Request, ...] = (
    ("JoinGroup", {**_JOINING, "member_id": ""}),
    ("JoinGroup", {**_JOINING, "member_id": "$member_id:0"}),
)
_SYNCED = {**_MEMBER, "protocol_type": "consumer", "protocol_name": "range",
           "assignments": [{"member_id": "$member_id:0", "assignment": "00"}]}  # fmt: skip
_ASSIGNED: Request = ("SyncGroup", _SYNCED)
_STATIC = {"group_instance_id": "$name-i"}
# A static member gets its id with the first join. Of versions without instances it is dynamic.
_STATIC_ASSIGNED: tuple[Request, ...] = (
    ("JoinGroup", {**_JOINING, **_STATIC, "member_id": ""}),
    ("JoinGroup", {**_JOINING, **_STATIC, "member_id": "$member_id:0"}),
    ("SyncGroup", {**_SYNCED, **_STATIC}),
    ("Heartbeat", {**_MEMBER, **_STATIC}),
)
OPENINGS = (
    Opening(3, ()),
    Opening(7, (TOPIC,)),
    Opening(2, (TOPIC, produced(), produced(compression="gzip"))),
    Opening(2, (TOPIC, ("InitProducerId", {"producer_id": -1, "producer_epoch": -1,
                                            "transaction_timeout_ms": 60_000}),
                produced(producer_id="$producer_id:0", producer_epoch=0, base_sequence=0))),
    Opening(2, (TOPIC, produced(),
                ("Fetch", {"session_id": 0, "session_epoch": 0, "max_bytes": 1 << 20,
                           "replica_id": -1, "topics": [_FETCHED]}))),
    Opening(1, (TOPIC, *_JOINED)),
    Opening(3, (TOPIC, *_JOINED, _ASSIGNED)),
    Opening(1, (TOPIC, *_STATIC_ASSIGNED)),
    Opening(1, (TOPIC, *_JOINED, _ASSIGNED,  # the leader joins once more: a rebalance
                ("JoinGroup", {**_JOINING, "member_id": "$member_id:0"}),
                ("DescribeGroups", {"groups": ["$name-g"]}))),
    Opening(2, (TOPIC, *_JOINED, _ASSIGNED,
                ("OffsetCommit", {**_MEMBER, "generation_id_or_member_epoch": 1,
                                  "retention_time_ms": -1, "topics": [COMMITTED]}))),
    Opening(2, (TOPIC, ("OffsetCommit", {"group_id": "$name-g", "member_id": "",
                                          "generation_id_or_member_epoch": -1,
                                          "retention_time_ms": -1, "topics": [COMMITTED]}))),
)  # fmt: skip


def known_fields(api: str, version: int, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that this version has."""
    spec = api_named(api).request.message_spec
    known = _known(spec, spec.root, version, fields)
    assert isinstance(known, dict)
    return known


def _known(message: Any, struct: Any, version: int, value: Any) -> Any:
    if isinstance(value, list):
        return [_known(message, struct, version, one) for one in value]
    if not isinstance(value, Mapping) or struct is None or RECORDS in value:
        return value
    slots = {slot.field.name: slot for slot in layout(message, struct, version).plain}
    return {
        name: _known(message, slots[name].field.struct, version, inner)
        for name, inner in value.items()
        if name in slots
    }

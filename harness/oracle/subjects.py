"""The APIs of seeded conversations: each has a requirement, and companions.

A conversation about an API also sends requests of its companions: those that change the state that
the API shows, and those that show the state that it changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType

_RECORDS = (
    "Produce", "Fetch", "ListOffsets", "DeleteRecords", "InitProducerId",
    "OffsetForLeaderEpoch", "DescribeProducers",
)  # fmt: skip
_MEMBERS = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "DescribeGroups", "ListGroups")
_OFFSETS = ("OffsetCommit", "OffsetFetch", "OffsetDelete", "DeleteGroups", "FindCoordinator")
_TOPICS = (
    "CreateTopics", "DeleteTopics", "CreatePartitions", "Metadata", "DescribeTopicPartitions",
    "DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs", "ListConfigResources",
)  # fmt: skip
_REPLICAS = (
    "AlterPartitionReassignments", "ListPartitionReassignments", "ElectLeaders",
    "DescribeLogDirs", "AlterReplicaLogDirs",
)  # fmt: skip
_BROKER = (
    "ApiVersions", "SaslHandshake", "DescribeCluster", "DescribeClientQuotas", "AlterClientQuotas",
)  # fmt: skip
_TRANSACTIONS = (
    "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "WriteTxnMarkers",
    "DescribeTransactions", "ListTransactions",
)  # fmt: skip
_FAMILIES = (_RECORDS, (*_MEMBERS, *_OFFSETS), (*_TOPICS, *_REPLICAS), _BROKER, _TRANSACTIONS)
_BESIDE_TRANSACTIONS = ("InitProducerId", "OffsetFetch", "DescribeProducers", "FindCoordinator")
"""Of other families: they begin a transaction, or show what it has changed."""
_WITNESSES = ("Produce", "Fetch", "ListOffsets", "Metadata", "DescribeConfigs")
"""They show what most requests change."""

SUBJECTS: tuple[str, ...] = tuple(name for family in _FAMILIES for name in family)
WITHOUT_CONVERSATIONS = (
    "DescribeAcls", "CreateAcls", "DeleteAcls",
    "CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken",
    "DescribeDelegationToken",
)  # fmt: skip
"""APIs of access control lists: a broker without an authorizer refuses every request; the area ACL
judges them.

APIs of delegation tokens: a PLAINTEXT listener refuses every request; the area DTOK judges them.
"""
_AFTER_RESTARTS = 38
"""The number of the requirement for all APIs across restarts."""
_NUMBERS = (number for number in count(1) if number != _AFTER_RESTARTS)
REQUIREMENTS: Mapping[str, str] = MappingProxyType(
    {name: f"SPEC-{number:03d}" for name, number in zip(SUBJECTS, _NUMBERS, strict=False)}
)
"""API -> id of the requirement for it."""


def companions_of(name: str) -> Sequence[str]:
    """Return the other APIs of a conversation about this one."""
    (family,) = [family for family in _FAMILIES if name in family]
    beside = _BESIDE_TRANSACTIONS if family is _TRANSACTIONS else ()
    return [one for one in dict.fromkeys((*family, *beside, *_WITNESSES)) if one != name]


def client_id_of(api: str) -> str:
    """Return the client id of conversations about an API."""
    return f"specification-{api}"

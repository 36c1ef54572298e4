"""The APIs of seeded conversations: each has a requirement, and companions.

A conversation about an API also sends requests of its companions: those that change the state that
the API shows, and those that show the state that it changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
_FAMILIES = (_RECORDS, (*_MEMBERS, *_OFFSETS), (*_TOPICS, *_REPLICAS), _BROKER)
_WITNESSES = ("Produce", "Fetch", "ListOffsets", "Metadata", "DescribeConfigs")
"""They show what most requests change."""

SUBJECTS: tuple[str, ...] = tuple(name for family in _FAMILIES for name in family)
WITHOUT_CONVERSATIONS = (
    "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers", "TxnOffsetCommit",
    "DescribeTransactions", "ListTransactions",
    "DescribeAcls", "CreateAcls", "DeleteAcls",
    "CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken",
    "DescribeDelegationToken",
)  # fmt: skip
"""APIs of transactions: their answers depend on the moment at which the markers are written. A
conversation would have to wait after each end of a transaction; the area TXN judges them.

APIs of access control lists: a broker without an authorizer refuses every request; the area ACL
judges them.

APIs of delegation tokens: a PLAINTEXT listener refuses every request; the area DTOK judges them.
"""
REQUIREMENTS: Mapping[str, str] = MappingProxyType(
    {name: f"SPEC-{number:03d}" for number, name in enumerate(SUBJECTS, 1)}
)
"""API -> id of the requirement for it."""


def companions_of(name: str) -> Sequence[str]:
    """Return the other APIs of a conversation about this one."""
    (family,) = [family for family in _FAMILIES if name in family]
    return [one for one in dict.fromkeys((*family, *_WITNESSES)) if one != name]


def client_id_of(api: str) -> str:
    """Return the client id of conversations about an API."""
    return f"specification-{api}"

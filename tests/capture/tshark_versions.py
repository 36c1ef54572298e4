"""The versions that the dissector of tshark 4.0 knows, and its mistakes."""

from __future__ import annotations

from dataclasses import dataclass

# Api -> highest version; all begin at 0. The 47 APIs from key 48 on it does not know at all.
HIGHEST_KNOWN = {
    "Produce": 8,
    "Fetch": 11,
    "ListOffsets": 5,
    "Metadata": 9,
    "LeaderAndIsr": 4,
    "StopReplica": 2,
    "UpdateMetadata": 6,
    "ControlledShutdown": 3,
    "OffsetCommit": 8,
    "OffsetFetch": 7,
    "FindCoordinator": 3,
    "JoinGroup": 7,
    "Heartbeat": 4,
    "LeaveGroup": 4,
    "SyncGroup": 5,
    "DescribeGroups": 5,
    "ListGroups": 3,
    "SaslHandshake": 1,
    "ApiVersions": 3,
    "CreateTopics": 5,
    "DeleteTopics": 4,
    "DeleteRecords": 1,
    "InitProducerId": 3,
    "OffsetForLeaderEpoch": 3,
    "AddPartitionsToTxn": 1,
    "AddOffsetsToTxn": 1,
    "EndTxn": 1,
    "WriteTxnMarkers": 0,
    "TxnOffsetCommit": 3,
    "DescribeAcls": 2,
    "CreateAcls": 2,
    "DeleteAcls": 2,
    "DescribeConfigs": 2,
    "AlterConfigs": 1,
    "AlterReplicaLogDirs": 1,
    "DescribeLogDirs": 1,
    "SaslAuthenticate": 2,
    "CreatePartitions": 2,
    "CreateDelegationToken": 2,
    "RenewDelegationToken": 2,
    "ExpireDelegationToken": 2,
    "DescribeDelegationToken": 2,
    "DeleteGroups": 2,
    "ElectLeaders": 2,
    "IncrementalAlterConfigs": 1,
    "AlterPartitionReassignments": 0,
    "ListPartitionReassignments": 0,
    "OffsetDelete": 0,
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """A difference of tshark. In all of them a real broker understands our reading, and Kafka's own
    classes read and write the same bytes as we do.
    """

    api: str
    direction: str  # request or response
    lowest: int
    highest: int
    what: str


_BYTES = "reads bytes, which have a length of four bytes, with a length of two"
_NOT_THROTTLED = "does not know that the response begins with the throttle time"
_TOPIC = "does not read the topic's name in front of the partitions"

MISTAKES = [
    Mistake("Produce", "request", 0, 2, f"{_BYTES}: key and value of a message"),
    Mistake("Fetch", "response", 0, 3, f"{_BYTES}: key and value of a message"),
    Mistake("UpdateMetadata", "request", 0, 3, "reads offline replicas, which came with v4"),
    Mistake("JoinGroup", "request", 0, 5, _BYTES),
    Mistake("JoinGroup", "response", 0, 5, _BYTES),
    Mistake("SyncGroup", "request", 0, 3, _BYTES),
    Mistake("SyncGroup", "response", 0, 3, _BYTES),
    Mistake("DescribeGroups", "response", 0, 4, _BYTES),
    Mistake("SaslAuthenticate", "request", 0, 1, _BYTES),
    Mistake("SaslAuthenticate", "response", 0, 1, _BYTES),
    Mistake("CreateDelegationToken", "response", 0, 1, _BYTES),
    Mistake("RenewDelegationToken", "request", 0, 1, _BYTES),
    Mistake("ExpireDelegationToken", "request", 0, 1, _BYTES),
    Mistake("DescribeDelegationToken", "response", 0, 1, _BYTES),
    Mistake("CreateTopics", "request", 5, 5, "reads assignments as pairs without their brokers"),
    Mistake("DeleteTopics", "response", 1, 2, _NOT_THROTTLED),
    Mistake("WriteTxnMarkers", "response", 0, 0, "reads a throttle time that no version has"),
    Mistake("DeleteAcls", "response", 0, 1, "reads the count of the filters as a compact one"),
    Mistake("AlterReplicaLogDirs", "response", 0, 1, "shows the topic's name as a log directory"),
    Mistake("CreatePartitions", "request", 0, 2, "reads assignments as one list of brokers"),
    Mistake("ElectLeaders", "request", 0, 2, _TOPIC),
    Mistake("AlterPartitionReassignments", "request", 0, 0, _TOPIC),
    Mistake("ListPartitionReassignments", "request", 0, 0, _TOPIC),
]


def mistake_at(api: str, direction: str, version: int) -> Mistake | None:
    """Return the mistake that affects this message, also a response to an unreadable request; None
    if there is none.
    """
    for mistake in MISTAKES:
        here = (mistake.api, mistake.direction) == (api, direction)
        if here and mistake.lowest <= version <= mistake.highest:
            return mistake
    return None

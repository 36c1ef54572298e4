"""The small number types that all modules name, so that an offset is never passed for an epoch."""

from typing import NewType

BrokerId = NewType("BrokerId", int)
"""A node of the cluster; -1 stands for "none"."""

PartitionIndex = NewType("PartitionIndex", int)
"""A partition's number inside its topic, from 0."""

Offset = NewType("Offset", int)
"""A record's place in its partition; -1 stands for "unknown"."""

LeaderEpoch = NewType("LeaderEpoch", int)
"""Number of one leadership of a partition; -1 stands for "not said"."""

ProducerId = NewType("ProducerId", int)
"""Names one producer to every partition; -1 stands for "not idempotent"."""

ProducerEpoch = NewType("ProducerEpoch", int)
"""Fences older incarnations of one producer id; -1 stands for "none"."""

TimeMs = NewType("TimeMs", int)
"""Milliseconds since 1970 UTC."""

FetchSessionId = NewType("FetchSessionId", int)
"""Names an incremental fetch session (KIP-227); 0 stands for "no session"."""

GroupId = NewType("GroupId", str)
"""Names a group of consumers, or of others that share work."""

MemberId = NewType("MemberId", str)
"""Names a member to its group's coordinator, which gives it out; "" stands for "not yet"."""

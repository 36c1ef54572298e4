"""One offset that a group committed."""

from dataclasses import dataclass
from uuid import UUID

from harness.codec.definition import ZERO_UUID
from harness.ids import LeaderEpoch, Offset, PartitionIndex, TimeMs

Place = tuple[str, PartitionIndex]
"""A partition by its topic's name."""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """`expires_at`: the client said how long it is to be kept, None for the broker's retention."""

    offset: Offset
    leader_epoch: LeaderEpoch
    metadata: str
    committed_at: TimeMs
    expires_at: TimeMs | None = None
    topic_id: UUID = ZERO_UUID

"""One offset that a group committed."""

from dataclasses import dataclass
from uuid import UUID

from harness.base.ids import LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.codec.definition import ZERO_UUID

Place = tuple[str, PartitionIndex]
"""Topic name and partition index."""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A committed offset. `expires_at`: the client set a retention; None: the broker's counts."""

    offset: Offset
    leader_epoch: LeaderEpoch
    metadata: str
    committed_at: TimeMs
    expires_at: TimeMs | None = None
    topic_id: UUID = ZERO_UUID

"""One partition as one broker shows it in Metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from harness.codec.messages import MetadataResponse

NOBODY = -1


@dataclass(frozen=True, slots=True)
class PartitionView:
    """``leader`` is -1 where there is none; ``epoch`` -1 and ``offline`` empty if not reported."""

    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    epoch: int = -1
    offline: tuple[int, ...] = ()
    error_code: int = 0

    @classmethod
    def of(cls, told: MetadataResponse.MetadataResponsePartition) -> Self:
        """Return the view in a Metadata response."""
        return cls(
            leader=told.leader_id,
            replicas=tuple(told.replica_nodes),
            isr=tuple(told.isr_nodes),
            epoch=told.leader_epoch,
            offline=tuple(told.offline_replicas),
            error_code=told.error_code,
        )

    @property
    def is_led(self) -> bool:
        """True if it has a leader."""
        return self.leader != NOBODY

    @property
    def is_whole(self) -> bool:
        """True if it has a leader and all its replicas are in sync."""
        return self.is_led and set(self.isr) == set(self.replicas)

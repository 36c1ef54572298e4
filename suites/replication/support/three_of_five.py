"""A log that ends at 5 with a high watermark of 3."""

from __future__ import annotations

from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.timeline import R2, R3, Timeline


def commit_three_of_five(timeline: Timeline) -> WatchedPartition:
    """Produce five records; R2 confirms five of them and R3 three. Return the partition."""
    timeline.partition.produce(5)
    timeline.follow(R2, 5)
    timeline.follow(R3, 3)
    return timeline.partition

"""How far readers of decided transactions get. Source: KIP-98, class UnifiedLog."""

from harness.ids import Offset
from harness.reference_broker.state.partition import Partition


def last_stable_offset(partition: Partition) -> Offset:
    """Below it all transactions are decided, and committed: where a batch begins, even below the
    log start (maybeIncrementFirstUnstableOffset)."""
    sought = first_unstable(partition)
    if sought is None:
        return partition.high_watermark
    return min(partition.log.batch_begin(sought), partition.high_watermark)


def first_unstable(partition: Partition) -> Offset | None:
    """By which the batch there is looked for: where offsets do not rise, that may be another one
    than is found by the offset with which it begins. None: all is stable."""
    unstable = partition.producers.first_unstable(partition.high_watermark)
    return None if unstable is None else max(unstable, partition.log.start_offset)

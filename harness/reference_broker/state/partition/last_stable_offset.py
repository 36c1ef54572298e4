"""The last stable offset, up to which `read_committed` consumers read.

Source: KIP-98, class UnifiedLog.
"""

from harness.base.ids import Offset
from harness.reference_broker.state.partition.partition import Partition


def last_stable_offset(partition: Partition) -> Offset:
    """Return the offset below which all transactions are decided and all records committed.

    It is the base offset of a batch, even one below the log start
    (maybeIncrementFirstUnstableOffset).
    """
    sought = first_unstable(partition)
    if sought is None:
        return partition.high_watermark
    return min(partition.log.batch_begin(sought), partition.high_watermark)


def first_unstable(partition: Partition) -> Offset | None:
    """Return the offset by which the first unstable batch is looked up; None if all is stable.

    Where offsets do not rise, the base offset of that batch may lead to another batch.
    """
    unstable = partition.producers.first_unstable(partition.high_watermark)
    return None if unstable is None else max(unstable, partition.log.start_offset)

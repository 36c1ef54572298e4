"""Defects of area RECV: values that the built-in broker stores, and does not read again."""

from __future__ import annotations

from collections.abc import Callable

from harness.codec.data_framing import EpochStart
from harness.codec.messages import GroupMetadataValue
from harness.reference_broker.storage.stored_segment import StoredSegment
from labs.defects.defect import wrong_in_broker

Read = Callable[[bytes], list[EpochStart]]
Seal = Callable[[StoredSegment], None]
Load = Callable[..., object]


@wrong_in_broker("RECV-020", r"after a (kill|stop|second stop), OffsetForLeaderEpoch",
                 "storage.epoch_file", "read_leader_epoch_checkpoint")  # fmt: skip
def a_start_reads_the_last_epoch_alone(read: Read) -> Read:
    """A start reads only the last entry of the file with the leader epochs."""
    return lambda data: read(data)[-1:]


@wrong_in_broker("RECV-019", r"after a stop, ListOffsets largest",
                 "storage.stored_segment", "StoredSegment.seal")  # fmt: skip
def the_largest_time_is_not_noted(_: Seal) -> Seal:
    """A segment that ends, and a stop, do not note the largest timestamp in the time index."""
    return lambda segment: None


@wrong_in_broker("RECV-022", r"after a stop, DescribeGroups .*group_instance_id is None",
                 "state.groups.group_loading", "_group")  # fmt: skip
def instance_ids_are_not_loaded(load: Load) -> Load:
    """A coordinator that loads its groups makes members with no instance ids."""

    def instead(group_id: str, value: GroupMetadataValue, now: int) -> object:
        for member in value.members:
            member.group_instance_id = None
        return load(group_id, value, now)

    return instead


DEFECTS = [
    a_start_reads_the_last_epoch_alone,
    the_largest_time_is_not_noted,
    instance_ids_are_not_loaded,
]

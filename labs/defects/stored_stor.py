"""Defects of area STOR: the built-in broker removes too much of logs, or finds wrong offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import replace

from harness.base.ids import Offset, TimeMs
from harness.reference_broker.state.cleaning.batch_compaction import RecordSurvival, keys_by_offset
from harness.reference_broker.state.cleaning.log_cleanable import CleanableLog
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.segments import Segment
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.storage.index_file import OffsetIndex
from labs.defects.defect import wrong_in_broker
from suites.durability.test_compaction import TWINS

RETENTION, COMPACTION = "state.cleaning.log_retention", "state.cleaning.log_compaction"
FOR_EVER_MS = 10**12
Breached = Callable[[Segment, Segment | None], bool]
TooOld = Callable[[Partition, TimeMs], Breached]
Compact = Callable[..., StoredBatch | None]
Mapped = tuple[dict[bytes, Offset], Offset]
Map = Callable[[CleanableLog, int], Generator[None, None, Mapped]]


@wrong_in_broker("STOR-003", r"looked at again, the logs begin at \[2, 2, 1\]",
                 RETENTION, "_too_old")  # fmt: skip
def the_active_segment_is_as_old_as_its_end(too_old: TooOld) -> TooOld:
    """Retention removes the active segment by the age of its last record, though one is younger."""

    def instead(partition: Partition, now: TimeMs) -> Breached:
        right, keep_ms = too_old(partition, now), partition.config.number("retention.ms")

        def breached(segment: Segment, following: Segment | None) -> bool:
            if following is not None or keep_ms < 0:
                return right(segment, following)
            *_, last = partition.log.between(segment.base_offset, partition.log.end_offset)
            return now - last.max_timestamp > keep_ms

        return breached

    return instead


@wrong_in_broker("STOR-004", r"too much is gone: \d+ bytes are wanted",
                 RETENTION, "_beyond_size")  # fmt: skip
def a_log_is_no_larger_than_wanted(
    beyond_size: Callable[[Partition], Breached],
) -> Callable[[Partition], Breached]:
    """Retention removes a closed segment though less than retention.bytes is left then."""

    def instead(partition: Partition) -> Breached:
        right, limit = beyond_size(partition), partition.config.number("retention.bytes")
        left = partition.segments.size_bytes

        def breached(segment: Segment, following: Segment | None) -> bool:
            nonlocal left
            is_too_much = limit >= 0 and following is not None and left > limit
            left -= segment.size_bytes
            return right(segment, following) or is_too_much

        return breached

    return instead


@wrong_in_broker("STOR-008", r"a record that is segment.ms younger: the segment begins at 1",
                 "state.log.segments", "Segment.is_full")  # fmt: skip
def a_segment_ends_a_millisecond_sooner(
    is_full: Callable[[Segment, StoredBatch, TopicConfig, TimeMs], bool],
) -> Callable[[Segment, StoredBatch, TopicConfig, TimeMs], bool]:
    """A segment ends one millisecond too early."""

    def instead(segment: Segment, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> bool:
        younger_ms = batch.max_timestamp - segment.first_timestamp
        is_last = segment.first_timestamp >= 0 and younger_ms == config.segment_ms
        return is_full(segment, batch, config, now) or (segment.size_bytes > 0 and is_last)

    return instead


@wrong_in_broker("STOR-012", r"the newest of their keys are gone", COMPACTION, "compacted")
def a_key_that_comes_twice_in_a_batch_is_gone(compacted: Compact) -> Compact:
    """Compaction removes both of two records of a key in one batch."""

    def instead(
        batch: StoredBatch, survival: RecordSurvival, *, is_over: bool
    ) -> StoredBatch | None:
        times = Counter(key for _, key in keys_by_offset(batch))
        newest = {
            key: offset if times[key] < 2 else Offset(survival.last_mapped + 1)
            for key, offset in survival.newest.items()
        }
        return compacted(batch, replace(survival, newest=newest), is_over=is_over)

    return instead


@wrong_in_broker("STOR-012", r"the newest of their keys are gone: .*'(other )?twin'",
                 COMPACTION, "_mapped")  # fmt: skip
def keys_of_all_logs_are_one_map(mapped: Map) -> Map:
    """Compaction of a log does not forget the keys of the logs before it."""
    known: dict[bytes, Offset] = {}

    def instead(part: CleanableLog, most_keys: int) -> Generator[None, None, Mapped]:
        newest, last_mapped = yield from mapped(part, most_keys)
        found = {key: offset for key, offset in {**known, **newest}.items() if key in TWINS}
        known.update({key: max(offset, known.get(key, offset)) for key, offset in found.items()})
        return {**newest, **known}, last_mapped

    return instead


def _kept_for(delete_retention_ms: int) -> Callable[[Compact], Compact]:
    def make(compacted: Compact) -> Compact:
        return lambda batch, survival, **others: compacted(
            batch, replace(survival, delete_retention_ms=delete_retention_ms), **others
        )

    return make


@wrong_in_broker("STOR-014", r"cleaned [123] times, left of the key is \[\]",
                 COMPACTION, "compacted")  # fmt: skip
def a_tombstone_goes_the_second_time(compacted: Compact) -> Compact:
    """The compaction after the one that removes deleted records removes the tombstone."""
    return _kept_for(0)(compacted)


@wrong_in_broker("STOR-014", r"cleaned 10 times, left of the key is \[Kept",
                 COMPACTION, "compacted", also=("STOR-023",))  # fmt: skip
def a_tombstone_stays_for_ever(compacted: Compact) -> Compact:
    """Compaction never removes a tombstone."""
    return _kept_for(FOR_EVER_MS)(compacted)


@wrong_in_broker("STOR-015", r"(min.compaction.lag.ms and one old one|young ones): left is",
                 COMPACTION, "cleanable")  # fmt: skip
def youth_saves_no_record(
    cleanable: Callable[[Partition, TimeMs], CleanableLog | None],
) -> Callable[[Partition, TimeMs], CleanableLog | None]:
    """Compaction goes up to the active segment, however young the records are."""
    return lambda partition, now: cleanable(partition, TimeMs(now + FOR_EVER_MS))


@wrong_in_broker("STOR-015", r"is over for a first record: left is",
                 "state.cleaning.log_cleanable", "_is_late")  # fmt: skip
def a_young_record_makes_its_segment_young(
    is_late: Callable[[Partition, list[Segment], TimeMs], bool],
) -> Callable[[Partition, list[Segment], TimeMs], bool]:
    """A segment waits for max.compaction.lag.ms after its last record, not after its first."""

    def instead(partition: Partition, dirty: list[Segment], now: TimeMs) -> bool:
        lag_ms = partition.config.number("max.compaction.lag.ms")
        old = [one for one in dirty if one.largest_timestamp < now - lag_ms]
        return is_late(partition, old, now)

    return instead


@wrong_in_broker("STOR-016", r"two records are too old, the log begins at 0",
                 COMPACTION, "delete_what_is_too_much")  # fmt: skip
def of_two_policies_one_counts(
    delete: Callable[[Partition, TimeMs], None],
) -> Callable[[Partition, TimeMs], None]:
    """The broker follows only compaction of two cleanup policies."""
    return lambda *_: None


@wrong_in_broker("STOR-021", r"a fetch at \d+ brings \[\((\d+), ",
                 "storage.index_file", "OffsetIndex.position_of")  # fmt: skip
def the_index_is_one_entry_off(
    position_of: Callable[[OffsetIndex, int], int],
) -> Callable[[OffsetIndex, int], int]:
    """Fetch reads from the index entry after that of the offset."""

    def instead(index: OffsetIndex, offset: int) -> int:
        position = position_of(index, offset)
        above = (index.entry(place)[1] for place in range(index.count))
        return next((one for one in above if 0 < position < one), position)

    return instead


DEFECTS = [
    the_active_segment_is_as_old_as_its_end,
    a_log_is_no_larger_than_wanted,
    a_segment_ends_a_millisecond_sooner,
    a_key_that_comes_twice_in_a_batch_is_gone,
    keys_of_all_logs_are_one_map,
    a_tombstone_goes_the_second_time,
    a_tombstone_stays_for_ever,
    youth_saves_no_record,
    a_young_record_makes_its_segment_young,
    of_two_policies_one_counts,
    the_index_is_one_entry_off,
]

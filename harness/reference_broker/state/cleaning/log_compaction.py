"""Compaction: only the newest record of each key stays in a log's closed segments.

Records of aborted transactions are removed. Source: classes LogCleaner and Cleaner of Apache Kafka
3.9 (buildOffsetMap, cleanSegments, groupSegmentsBySize).
"""

from collections.abc import Generator, Iterator, Sequence

from harness.base.ids import Offset, TimeMs
from harness.codec.errors import CodecError
from harness.reference_broker.state.cleaning.batch_compaction import (
    RecordSurvival,
    compacted,
    keys_by_offset,
)
from harness.reference_broker.state.cleaning.cleaned_transactions import CleanedTransactions
from harness.reference_broker.state.cleaning.log_cleanable import CleanableLog, cleanable
from harness.reference_broker.state.cleaning.log_retention import delete_what_is_too_much
from harness.reference_broker.state.log.segments import Segment
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.topics.cluster import ClusterState

_MOST_KEYS = 500_000  # of one pass, as its map is in memory; the rest waits for the next
_FARTHEST = 2**31 - 1  # offsets within one segment
_Mapped = tuple[dict[bytes, Offset], Offset]


def compaction_round(cluster: ClusterState, now: TimeMs) -> Iterator[None]:
    """Compact one log after the other until none is worth it, one batch in each step.

    Logs that are both compacted and deleted lose their old segments in the same round.
    """
    for partition in list(cluster.partitions()):
        if partition.config.is_compacted:
            delete_what_is_too_much(partition, now)
        yield
    while (log := (yield from _filthiest(cluster, now))) is not None:
        yield from compact(log, now)


def _filthiest(cluster: ClusterState, now: TimeMs) -> Generator[None, None, CleanableLog | None]:
    found: CleanableLog | None = None
    for partition in list(cluster.partitions()):
        log = cleanable(partition, now)
        if log is not None and (found is None or log.dirty_ratio > found.dirty_ratio):
            found = log
        yield
    return found


def compact(part: CleanableLog, now: TimeMs, most_keys: int = _MOST_KEYS) -> Iterator[None]:
    """Remove from the log the records that a record in `part` replaces.

    Clients may append and delete meanwhile: the result is put in place at the last step. A log with
    bytes that cannot be read is never compacted again. The pass ends early if the log begins to
    move or is replaced (abortAndPauseCleaning).
    """
    log, pass_ = part.partition.log, _pass(part, most_keys, now)
    try:
        for _ in pass_:
            yield
            if part.partition.log is not log or part.partition.future is not None:
                pass_.close()
    except CodecError:
        part.partition.is_uncleanable = True
    except OSError:
        return  # its folder is offline


def _pass(part: CleanableLog, most_keys: int, now: TimeMs) -> Generator[None, None, None]:
    mapped = yield from _mapped(part, most_keys)
    yield from _rewrite(part.partition, mapped, now)


def _mapped(part: CleanableLog, most_keys: int) -> Generator[None, None, _Mapped]:
    """Map each key to the offset of its newest record, and return the last offset covered."""
    newest: dict[bytes, Offset] = {}
    last_mapped, log = Offset(part.end - 1), part.partition.log
    transactions = CleanedTransactions(log.aborted_between(part.first_dirty, part.end))
    for batch in log.between(part.first_dirty, part.end):
        if len(newest) >= most_keys:
            last_mapped = Offset(batch.base_offset - 1)
            break
        if not transactions.go_past(batch):
            found = keys_by_offset(batch)
            newest |= {key: offset for offset, key in found if offset >= part.first_dirty}
        yield
    return newest, last_mapped


def _rewrite(partition: Partition, mapped: _Mapped, now: TimeMs) -> Iterator[None]:
    newest, last_mapped = mapped
    survival = RecordSurvival(
        newest,
        last_mapped,
        partition.producers.last_records(),
        partition.config.number("delete.retention.ms"),
        now,
    )
    *closed, active = partition.segments.all()
    read = [segment for segment in closed if segment.base_offset <= last_mapped]
    end = next((one.base_offset for one in closed[len(read) :]), active.base_offset)
    groups = _groups(read, end, partition.config.segment_bytes)
    begins = [group[0].base_offset for group in groups]
    pass_ = partition.log.compaction()
    aborted = partition.log.aborted_between(begins[0], end) if begins else []
    transactions = CleanedTransactions(aborted, pass_.note_aborted)
    try:
        for group, begin, behind in zip(groups, begins, [*begins[1:], end], strict=True):
            pass_.begin_segment(group)
            for batch in partition.log.between(begin, behind):
                is_over = transactions.go_past(batch)
                survivor = compacted(batch, survival, is_over=is_over)
                if survivor is not None:
                    pass_.add(survivor)
                yield
        if pass_.put_in_place(end):
            partition.first_dirty = Offset(last_mapped + 1)
    finally:
        pass_.abandon()


def _groups(segments: Sequence[Segment], end: Offset, segment_bytes: int) -> list[list[Segment]]:
    """Return groups of neighbouring segments that fit into one segment, by their present sizes."""
    groups: list[list[Segment]] = []
    size_bytes = 0
    behind = [*(one.base_offset for one in segments[1:]), end]
    for segment, next_offset in zip(segments, behind, strict=True):
        size_bytes += segment.size_bytes
        fits = bool(groups) and size_bytes <= segment_bytes
        if fits and next_offset - 1 - groups[-1][0].base_offset <= _FARTHEST:
            groups[-1].append(segment)
        else:
            groups.append([segment])
            size_bytes = segment.size_bytes
    return groups

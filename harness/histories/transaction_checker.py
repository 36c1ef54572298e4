"""Transactions are visible as a whole, once, in order and in time: judged on a finished history.

Pure, total and linear in the length of the history. Each partition's log at the end, as a
read_committed consumer finds it, is the order of its writes; the names are Jepsen's and Adya's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from harness.histories.checker import NOTHING_ACKNOWLEDGED
from harness.histories.history import ClientOperation, OperationOutcome
from harness.histories.judgement import Anomaly, Findings, HistoryVerdict, Judgement
from harness.histories.poll_steps import check_steps
from harness.histories.transaction_cycles import cycles
from harness.histories.transaction_mode import TransactionMode
from harness.histories.transaction_story import NEVER, ClientTransaction, Place, TransactionStory

AmountOf = Callable[[str], int]


@dataclass(slots=True)
class _Verdicts:
    """The findings, by whether the mode promises that there is none."""

    mode: TransactionMode
    broken: Findings = field(default_factory=Findings)
    allowed: Findings = field(default_factory=Findings)

    def add(self, anomaly: Anomaly, *proof: ClientOperation, polled: bool = False) -> None:
        why = self.mode.why_allowed(anomaly, polled=polled)
        (self.allowed if why else self.broken).add(anomaly, *proof)


def check_transactions(
    history: Iterable[ClientOperation],
    mode: TransactionMode | None = None,
    amount_of: AmountOf | None = None,
) -> Judgement:
    """Judge producers that share partitions, consumers, and transactions that consume inputs.

    Assumed, else the verdict is unknown: no value is sent twice, operations of a transaction are
    inside of one, and the log was read to its end, or a process is stuck. Each consumer reads its
    partitions from offset 0 on, and notes an ``end`` where it has read all that it may.
    ``amount_of``: the amount that a value moves, if the records are transfers.
    """
    story = TransactionStory(history)
    if story.broken:
        return Judgement(HistoryVerdict.UNKNOWN, why=f"the history is broken: {story.broken}")
    if not story.was_read and not _stuck(story):
        return Judgement(HistoryVerdict.UNKNOWN, why="the log was not read to its end")
    found = _Verdicts(mode or TransactionMode())
    for one in _stuck(story):
        found.add(Anomaly.STUCK, one)
    if not story.was_read:  # no more can be judged
        return _judgement(story, found)
    _check_log(story, found)
    _check_whole(story, found)
    _check_order(story, found)
    _check_polls(story, found)
    _check_ends(story, found)
    _check_inputs(story, found)
    _check_offsets(story, found)
    for anomaly, circle in cycles(story):
        found.add(anomaly, *(each.began for each in circle), polled=anomaly is Anomaly.READ_CYCLE)
    _check_sum(story, amount_of, found)
    return _judgement(story, found)


def _stuck(story: TransactionStory) -> list[ClientOperation]:
    return [one for one in story.finished if one.outcome is not OperationOutcome.OK]


def _judgement(story: TransactionStory, found: _Verdicts) -> Judgement:
    allowed = found.allowed.all()
    if broken := found.broken.all():
        return Judgement(HistoryVerdict.INVALID, broken, allowed=allowed)
    if not any(one.outcome is OperationOutcome.OK for one in story.transactions):
        return Judgement(HistoryVerdict.UNKNOWN, why=NOTHING_ACKNOWLEDGED, allowed=allowed)
    return Judgement(HistoryVerdict.VALID, allowed=allowed)


# -- the log -----------------------------------------------------------------------------------


def _check_log(story: TransactionStory, found: _Verdicts) -> None:
    seen: dict[str, ClientOperation] = {}
    for records in story.log.values():
        for record in records:
            if record.value in seen:
                found.add(Anomaly.DUPLICATE, seen[record.value], record)
                continue
            seen[record.value] = record
            _check_record(record, story, found)


def _check_record(record: ClientOperation, story: TransactionStory, found: _Verdicts) -> None:
    writer = story.writer.get(record.value)
    sent = writer.sends.get(record.value) if writer else None
    acknowledged = story.acknowledged.get(record.value)
    if writer is None or (sent is not None and sent.partition != record.partition):
        found.add(Anomaly.PHANTOM, record)
    elif writer.outcome is OperationOutcome.FAIL:
        found.add(Anomaly.ABORTED_READ, writer.began, record)
    elif sent is None:
        found.add(Anomaly.FAILED_WRITE, record)
    elif acknowledged and acknowledged.offset not in (record.offset, NEVER):
        found.add(Anomaly.INCONSISTENT_OFFSET, acknowledged, record)


def _check_whole(story: TransactionStory, found: _Verdicts) -> None:
    for one in story.transactions:
        there = {record.value for record in one.in_log}
        missing = [sent for value, sent in one.sends.items() if value not in there]
        if missing and there:
            found.add(Anomaly.TORN_TRANSACTION, one.began, one.in_log[0], missing[0])
        elif missing and one.outcome is OperationOutcome.OK:
            found.add(Anomaly.LOST_WRITE, one.began, missing[0])


def _check_order(story: TransactionStory, found: _Verdicts) -> None:
    """Of one process's records in a partition the one sent later stands behind."""
    last: dict[tuple[str, int], ClientOperation] = {}
    for one in story.transactions:
        at = {record.value: record for record in one.in_log}
        for record in (at[value] for value in one.sends if value in at):
            key = (one.began.process, record.partition)
            before = last.get(key)
            if before is not None and record.offset < before.offset:
                found.add(Anomaly.NONMONOTONIC_SEND, before, record)
            last[key] = record


def _check_sum(story: TransactionStory, amount_of: AmountOf | None, found: _Verdicts) -> None:
    if amount_of is None:
        return
    moved = sum(amount_of(record.value) for each in story.log.values() for record in each)
    if moved:
        records = [record for each in story.log.values() for record in each]
        found.add(Anomaly.UNBALANCED, records[-1])


# -- consumers ---------------------------------------------------------------------------------


def _check_polls(story: TransactionStory, found: _Verdicts) -> None:
    log: dict[Place, ClientOperation] = {
        (partition, record.offset): record
        for partition, records in story.log.items()
        for record in records
    }
    for polls in story.polls.values():
        for poll in polls:
            _check_poll(poll, log.get((poll.partition, poll.offset)), story, found)
        check_steps(polls, found)
    for poll in story.dirty:
        writer = story.writer[poll.value]
        if writer.commit_at != NEVER:
            found.add(Anomaly.DIRTY_READ, poll, writer.began, polled=True)
    _check_seen(story, found)


def _check_poll(
    poll: ClientOperation,
    stored: ClientOperation | None,
    story: TransactionStory,
    found: _Verdicts,
) -> None:
    writer = story.writer.get(poll.value)
    if writer is None:
        found.add(Anomaly.PHANTOM, poll)
    elif writer.outcome is OperationOutcome.FAIL:
        found.add(Anomaly.ABORTED_READ, writer.began, poll, polled=True)
    elif stored is not None and stored.value != poll.value:
        found.add(Anomaly.INCONSISTENT_OFFSET, poll, stored)
    elif stored is None and found.mode.read_committed:
        found.add(Anomaly.INCONSISTENT_OFFSET, poll)


def _check_seen(story: TransactionStory, found: _Verdicts) -> None:
    """Find records that a consumer passed over, or finished without."""
    ends: defaultdict[tuple[str, int], int] = defaultdict(int)
    for end in story.ends:
        key = (end.process, end.partition)
        ends[key] = max(ends[key], end.offset)
    done = {one.process for one in story.finished if one.outcome is OperationOutcome.OK}
    for process, partition in {**ends, **story.polls}:
        key = (process, partition)
        given = {poll.offset for poll in story.polls.get(key, ())}
        highest = max(given, default=-1)
        for record in story.log.get(partition, ()):
            if record.offset in given:
                continue
            if record.offset < highest:
                found.add(Anomaly.POLL_SKIP, record)
            elif record.offset < ends[key] or (process in done and _is_due(record, story)):
                found.add(Anomaly.UNSEEN, record)


def _is_due(record: ClientOperation, story: TransactionStory) -> bool:
    writer = story.writer.get(record.value)
    return writer is not None and writer.outcome is OperationOutcome.OK


def _check_ends(story: TransactionStory, found: _Verdicts) -> None:
    """The end of what a consumer may read is the first record of an open transaction, or no record.

    So no end is at a later record of a transaction in its partition. It may be between two records
    of one transaction, where another one begins that is open still.
    """
    if not found.mode.read_committed:
        return
    at: dict[int, dict[int, ClientTransaction]] = {}
    for end in story.ends:
        if end.partition not in at:
            at[end.partition] = _later_records(end.partition, story)
        if writer := at[end.partition].get(end.offset):
            found.add(Anomaly.INTERMEDIATE_READ, end, writer.began, polled=True)


def _later_records(partition: int, story: TransactionStory) -> dict[int, ClientTransaction]:
    """The transaction of each record that is not its first one in the partition, by offset."""
    found: dict[int, ClientTransaction] = {}
    begun: set[ClientTransaction] = set()
    for record in story.log.get(partition, ()):
        writer = story.writer.get(record.value)
        if writer is not None and writer in begun:
            found[record.offset] = writer
        elif writer is not None:
            begun.add(writer)
    return found


# -- consume, transform, produce ----------------------------------------------------------------


def _check_inputs(story: TransactionStory, found: _Verdicts) -> None:
    consumed: defaultdict[Place, list[ClientOperation]] = defaultdict(list)
    maybe: set[Place] = set()
    for one in story.transactions:
        for record in one.consumed if one.may_be_there else ():
            maybe.add((record.partition, record.offset))
            if one.is_there:
                consumed[record.partition, record.offset].append(record)
    for records in consumed.values():
        if len(records) > 1:
            found.add(Anomaly.CONSUMED_TWICE, *records)
    for partition, committed in story.committed_offsets().items():
        for record in story.log.get(partition, ()):
            if record.offset < committed and (partition, record.offset) not in maybe:
                found.add(Anomaly.NEVER_CONSUMED, record)


def _check_offsets(story: TransactionStory, found: _Verdicts) -> None:
    for read, floor in story.offsets:
        if read.offset < floor:
            found.add(Anomaly.OFFSETS_BACK, read)

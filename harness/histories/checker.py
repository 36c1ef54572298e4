"""Every acknowledged record is read exactly once and in order: judged on a finished history.

Pure, total and bounded: any history gets a verdict, a finding keeps the proofs of its first cases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.histories.judgement import Anomaly, Findings, HistoryVerdict, Judgement
from harness.histories.poll_steps import check_steps

Place = tuple[int, int]
"""Partition and offset."""
NOTHING_ACKNOWLEDGED = "nothing was acknowledged"


class _History:
    """A history, sorted by what its operations are about."""

    def __init__(self, operations: Iterable[ClientOperation]) -> None:
        self.sent: dict[str, ClientOperation] = {}  # by value, in the order of sending
        self.ended: dict[str, ClientOperation] = {}
        self.polled: list[ClientOperation] = []
        self.ends: dict[int, int] = {}
        self.finished: list[ClientOperation] = []
        self.log: list[ClientOperation] = []
        self.was_read = False
        self.broken = ""
        for operation in operations:
            self._take(operation)
        self.acknowledged = [
            self.ended[value]
            for value in self.sent
            if value in self.ended and self.ended[value].outcome is OperationOutcome.OK
        ]
        producers = {operation.process for operation in self.sent.values()}
        others = [one for one in self.finished if one.process not in producers]
        self.polled_to_the_end = bool(others) and all(
            one.outcome is OperationOutcome.OK for one in others
        )

    def _take(self, one: ClientOperation) -> None:
        ok = one.outcome is OperationOutcome.OK
        if one.action is ClientAction.SEND:
            self._take_send(one)
        elif one.action is ClientAction.POLL and ok:
            self.polled.append(one)
        elif one.action is ClientAction.END and ok:
            self.ends[one.partition] = one.offset
        elif one.action is ClientAction.FINISH and one.outcome is not OperationOutcome.INVOKE:
            self.finished.append(one)
        elif one.action is ClientAction.FINAL_READ and ok and one.value:
            self.log.append(one)
        elif one.action is ClientAction.FINAL_READ and ok:
            self.was_read = True  # to the end, however little was there

    def _take_send(self, one: ClientOperation) -> None:
        if one.outcome is OperationOutcome.INVOKE:
            if one.value in self.sent:
                self.broken = self.broken or f"{one.value!r} was sent twice"
            self.sent[one.value] = one
        elif one.value not in self.sent:
            self.broken = self.broken or f"{one.value!r} ended and never began"
        elif one.value in self.ended:
            self.broken = self.broken or f"{one.value!r} ended twice"
        else:
            self.ended[one.value] = one


def check(history: Iterable[ClientOperation]) -> Judgement:
    """Judge the history of producers that each send to any partition, and of one consumer.

    Assumed, else the verdict is unknown: no value is sent twice, no send ends that never began or
    ends twice, and the log was read to its end (an ``ok`` of ``final_read`` without a value).
    Of several producers' records the order is judged as that of their ``invoke``: let each have
    partitions of its own.
    """
    told = _History(history)
    if told.broken:
        return Judgement(HistoryVerdict.UNKNOWN, why=f"the history is broken: {told.broken}")
    if not told.was_read:
        return Judgement(HistoryVerdict.UNKNOWN, why="the log was not read to its end")
    findings = Findings()
    _check_log(told, findings)
    _check_polls(told, findings)
    _check_progress(told, findings)
    if found := findings.all():
        return Judgement(HistoryVerdict.INVALID, found)
    if not told.acknowledged:
        return Judgement(HistoryVerdict.UNKNOWN, why=NOTHING_ACKNOWLEDGED)
    return Judgement(HistoryVerdict.VALID)


def _check_log(told: _History, findings: Findings) -> None:
    by_value: defaultdict[str, list[ClientOperation]] = defaultdict(list)
    for record in told.log:
        by_value[record.value].append(record)
        _check_source(record, told, findings)
    for copies in by_value.values():
        if len(copies) > 1:
            findings.add(Anomaly.DUPLICATE, *copies)
    there = []
    for acknowledged in told.acknowledged:
        copies = by_value.get(acknowledged.value, [])
        if not copies:
            findings.add(Anomaly.LOST_WRITE, acknowledged)
            continue
        there.append(copies[0])
        if acknowledged.offset >= 0 and acknowledged.offset not in {one.offset for one in copies}:
            findings.add(Anomaly.INCONSISTENT_OFFSET, acknowledged, *copies)
    for records in _by_partition(there).values():
        for before, after in pairwise(records):
            if after.offset < before.offset:
                findings.add(Anomaly.NONMONOTONIC_SEND, before, after)


def _check_source(record: ClientOperation, told: _History, findings: Findings) -> None:
    sent = told.sent.get(record.value)
    if sent is None or sent.partition != record.partition:
        findings.add(Anomaly.PHANTOM, record)
        return
    ended = told.ended.get(record.value)
    if ended is not None and ended.outcome is OperationOutcome.FAIL:
        findings.add(Anomaly.FAILED_WRITE, ended, record)


def _check_polls(told: _History, findings: Findings) -> None:
    log = {(record.partition, record.offset): record for record in told.log}
    for record in told.polled:
        stored = log.get((record.partition, record.offset))
        if record.value not in told.sent:
            findings.add(Anomaly.PHANTOM, record)
        elif stored is None:
            findings.add(Anomaly.INCONSISTENT_OFFSET, record)
        elif stored.value != record.value:
            findings.add(Anomaly.INCONSISTENT_OFFSET, record, stored)
    for polled in _by_partition(told.polled).values():
        _check_order(polled, log, findings)
    _check_seen(told, log, findings)


def _check_order(
    polled: Sequence[ClientOperation], log: Mapping[Place, ClientOperation], findings: Findings
) -> None:
    """Check the polls of one partition; a repeated or skipped offset counts once."""
    given = check_steps(polled, findings)
    highest = max(given, default=0)
    for (partition, offset), record in log.items():
        if partition == polled[0].partition and offset < highest and offset not in given:
            findings.add(Anomaly.POLL_SKIP, record)


def _check_seen(told: _History, log: Mapping[Place, ClientOperation], findings: Findings) -> None:
    """Find records that a finished consumer should have received and did not.

    A record is due when it was acknowledged, or when it is before the end that the consumer read.
    """
    if not told.polled_to_the_end:
        return
    given = {(record.partition, record.offset) for record in told.polled}
    acknowledged = {operation.value for operation in told.acknowledged}
    highest: defaultdict[int, int] = defaultdict(lambda: -1)
    for partition, offset in given:
        highest[partition] = max(highest[partition], offset)
    for (partition, offset), record in log.items():
        due = offset < told.ends.get(partition, 0) or record.value in acknowledged
        if due and offset > highest[partition]:  # others are skipped, which is found already
            findings.add(Anomaly.UNSEEN, record)


def _check_progress(told: _History, findings: Findings) -> None:
    done = set()
    for finished in told.finished:
        if finished.outcome is OperationOutcome.OK:
            done.add(finished.process)
        else:
            findings.add(Anomaly.STUCK, finished)
    for value, sent in told.sent.items():
        if value not in told.ended and sent.process in done:
            findings.add(Anomaly.UNANSWERED, sent)


def _by_partition(records: Iterable[ClientOperation]) -> dict[int, list[ClientOperation]]:
    found: dict[int, list[ClientOperation]] = {}
    for record in records:
        found.setdefault(record.partition, []).append(record)
    return found

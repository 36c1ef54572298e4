"""The result of a checker for a history."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from harness.histories.history import ClientOperation

SHOWN = 5


class Anomaly(StrEnum):
    """Anomalies of a history of sends and polls, with Jepsen's names where it has one.

    In the log, as the final read shows it:

    ``lost_write``: a record was acknowledged and is not there.
    ``duplicate``: the value of one send is there more than once.
    ``nonmonotonic_send``: of two acknowledged records the one sent later stands first.
    ``inconsistent_offset``: a record was acknowledged, or polled, at an offset that has another.
    ``phantom``: a record is there, or was polled, that no producer sent to this partition.
    ``failed_write``: a record is there though its send surely failed.

    In the polls of a consumer with assigned partitions that reads each from offset 0 to its end:

    ``poll_duplicate``: it received an offset twice.
    ``nonmonotonic_poll``: it received a smaller offset after a larger one.
    ``poll_skip``: it received nothing of an offset between two that it received.
    ``unseen``: it finished without this record, which is behind all others that it received,
    though the record was acknowledged or is before the partition's end that the consumer read.

    Of transactions, which are visible as a whole or not at all:

    ``G0`` (write cycle): of two partitions each has the transactions in another order, by whatever
    number of steps.
    ``G1a`` (aborted read): a record is there, or was polled, of a transaction that no commit was
    requested for, or the commit surely failed.
    ``G1b`` (intermediate read): the end of what a consumer may read is at a record of a transaction
    of which the same partition has earlier ones.
    ``G1c`` (circular information flow): transactions read one another's records in a circle.
    ``G1c_with_writes``: a circle of reads and of places in a log.
    ``dirty_read``: a record was polled before the commit of its transaction was requested.
    ``torn_transaction``: some records of a transaction are there, and some are not.
    ``consumed_twice``: two transactions that are there consumed the same input.
    ``never_consumed``: an input is before the committed offset, and no transaction consumed it.
    ``offsets_back``: a committed offset was read that is below one that had been read before.
    ``unbalanced``: the transfers in the log do not sum up to zero.

    In the progress after all faults are healed:

    ``stuck``: a process did not finish.
    ``unanswered``: the producer finished and recorded no outcome of a send.
    """

    LOST_WRITE = "lost_write"
    DUPLICATE = "duplicate"
    NONMONOTONIC_SEND = "nonmonotonic_send"
    INCONSISTENT_OFFSET = "inconsistent_offset"
    PHANTOM = "phantom"
    FAILED_WRITE = "failed_write"
    POLL_DUPLICATE = "poll_duplicate"
    NONMONOTONIC_POLL = "nonmonotonic_poll"
    POLL_SKIP = "poll_skip"
    UNSEEN = "unseen"
    WRITE_CYCLE = "G0"
    ABORTED_READ = "G1a"
    INTERMEDIATE_READ = "G1b"
    READ_CYCLE = "G1c"
    MIXED_CYCLE = "G1c_with_writes"
    DIRTY_READ = "dirty_read"
    TORN_TRANSACTION = "torn_transaction"
    CONSUMED_TWICE = "consumed_twice"
    NEVER_CONSUMED = "never_consumed"
    OFFSETS_BACK = "offsets_back"
    UNBALANCED = "unbalanced"
    STUCK = "stuck"
    UNANSWERED = "unanswered"


class HistoryVerdict(StrEnum):
    """``unknown``: the history breaks what the checker assumes, or nothing was acknowledged."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class FoundAnomaly:
    """One anomaly: how often, and the operations that prove its first cases."""

    anomaly: Anomaly
    count: int = 0
    proofs: list[tuple[ClientOperation, ...]] = field(default_factory=list)

    def add(self, *proof: ClientOperation) -> None:
        self.count += 1
        if len(self.proofs) < SHOWN:
            self.proofs.append(proof)

    def __str__(self) -> str:
        first = "; ".join(" / ".join(map(str, proof)) for proof in self.proofs[:1])
        return f"{self.anomaly} x{self.count}: {first}"


class Findings:
    """A finding for each anomaly that was found, in the order of ``Anomaly``."""

    def __init__(self) -> None:
        self._found: dict[Anomaly, FoundAnomaly] = {}

    def add(self, anomaly: Anomaly, *proof: ClientOperation) -> None:
        self._found.setdefault(anomaly, FoundAnomaly(anomaly)).add(*proof)

    def all(self) -> tuple[FoundAnomaly, ...]:
        return tuple(self._found[anomaly] for anomaly in Anomaly if anomaly in self._found)


@dataclass(frozen=True, slots=True)
class Judgement:
    """``why``: of a verdict that is unknown. ``allowed``: seen, and not promised to be absent."""

    verdict: HistoryVerdict
    findings: tuple[FoundAnomaly, ...] = ()
    why: str = ""
    allowed: tuple[FoundAnomaly, ...] = ()

    @property
    def anomalies(self) -> dict[Anomaly, int]:
        return {finding.anomaly: finding.count for finding in self.findings}

"""The promises that a history of transactions is judged by, and the reasons for those not made."""

from __future__ import annotations

from dataclasses import dataclass

from harness.histories.judgement import Anomaly

ALL = -1
FENCES_EACH_END = 2
"""The first transaction.version in which each end raises the producer's epoch (KIP-890)."""
INTERLEAVED = "Kafka orders each partition alone: open transactions interleave"
LATE = "KAFKA-17754: below transaction.version 2 a late request may act on the next transaction"
FEW_ACKS = "only acks=all promises that an acknowledged record stays"
UNCOMMITTED = "read_uncommitted consumers receive the records of open and aborted transactions"
CYCLES = (Anomaly.WRITE_CYCLE, Anomaly.MIXED_CYCLE)
BY_LATE_REQUESTS = (
    Anomaly.ABORTED_READ,
    Anomaly.DIRTY_READ,
    Anomaly.TORN_TRANSACTION,
    Anomaly.LOST_WRITE,
    Anomaly.CONSUMED_TWICE,
    Anomaly.NEVER_CONSUMED,
    Anomaly.UNBALANCED,
)
BY_FEW_ACKS = (Anomaly.LOST_WRITE, Anomaly.INCONSISTENT_OFFSET, Anomaly.UNSEEN)
OF_POLLS = (Anomaly.ABORTED_READ, Anomaly.DIRTY_READ, Anomaly.READ_CYCLE)


@dataclass(frozen=True, slots=True)
class TransactionMode:
    """The clients' settings, and the cluster's, on which promises depend.

    Attributes:
        acks: of the producers; transactions require all (-1).
        read_committed: the isolation of the consumers; the log at the end is always read so.
        transaction_version: the level of the feature, 0 before it existed.
        late_requests: the network may deliver a request after its sender has given it up.
    """

    acks: int = ALL
    read_committed: bool = True
    transaction_version: int = FENCES_EACH_END
    late_requests: bool = False

    def why_allowed(self, anomaly: Anomaly, *, polled: bool = False) -> str:
        """Return why the anomaly breaks no promise; empty where it breaks one.

        ``polled``: a consumer shows it; else the log at the end does.
        """
        reasons = (
            (anomaly in CYCLES, INTERLEAVED),
            (self.acks != ALL and anomaly in BY_FEW_ACKS, FEW_ACKS),
            (polled and not self.read_committed and anomaly in OF_POLLS, UNCOMMITTED),
            (self._is_exposed and anomaly in BY_LATE_REQUESTS, LATE),
        )
        return next((reason for holds, reason in reasons if holds), "")

    @property
    def _is_exposed(self) -> bool:
        return self.late_requests and self.transaction_version < FENCES_EACH_END

"""Wrong transactions in the built-in broker: each of a kind that real brokers have had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.histories.judgement import Anomaly
from labs.defects.defect import WrongFunction
from labs.transaction_histories import wrong_decisions as decisions
from labs.transaction_histories import wrong_records as records
from labs.transaction_histories.workloads import APPENDS, TRANSFERS, TRANSFORMS

STATE = "harness.reference_broker.state"
CHECKS = "harness.reference_broker.handlers.transaction_check"


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """``shows``: an anomaly that a run has within ``operations``, beside others it may have.

    ``ticket``: a bug of this kind, of Apache Kafka or at GitHub. ``lost``: the API of which
    answers have to be lost before the bug can show; empty for any.
    """

    name: str
    meaning: str
    ticket: str
    wrong: WrongFunction
    shows: Anomaly
    workload: str
    lost: str = ""
    operations: int = 6000


def _in(module: str, name: str, instead: Callable[[Any], Any]) -> WrongFunction:
    return WrongFunction(f"{STATE}.{module}", name, instead)


PLANTED = (
    PlantedBug(
        "a_marker_is_lost",
        "A partition of a decided transaction gets no marker.",
        "KAFKA-5610",
        _in("transactions.marker_writing", "_settle_place", decisions.lost_marker),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "a_partition_gets_the_other_marker",
        "A partition of a committed transaction gets the marker of an abort.",
        "redpanda#10669",
        _in("partition.coordinator_append", "append_marker", records.reversed_marker),
        Anomaly.TORN_TRANSACTION, APPENDS,
    ),
    PlantedBug(
        "a_commit_is_an_abort",
        "The coordinator acknowledges a commit, and aborts.",
        "KAFKA-17754",
        _in("transactions.marker_rounds", "MarkerRound.aborts", decisions.decision(True)),
        Anomaly.LOST_WRITE, APPENDS,
    ),
    PlantedBug(
        "an_abort_is_a_commit",
        "The coordinator acknowledges an abort, and commits.",
        "KAFKA-17754",
        _in("transactions.marker_rounds", "MarkerRound.aborts", decisions.decision(False)),
        Anomaly.ABORTED_READ, APPENDS,
    ),
    PlantedBug(
        "the_stable_offset_is_early",
        "The last stable offset does not wait for open transactions.",
        "kop#1283",
        _in("partition.last_stable_offset", "last_stable_offset", records.early_stable_offset),
        Anomaly.DIRTY_READ, APPENDS,
    ),
    PlantedBug(
        "aborts_are_not_listed",
        "Fetch does not list aborted transactions.",
        "KAFKA-5376",
        _in("fetch.fetch_reading", "_read", records.unlisted_aborts),
        Anomaly.ABORTED_READ, APPENDS,
    ),
    PlantedBug(
        "pending_offsets_are_dropped",
        "A commit drops the offsets of its transaction.",
        "redpanda#6326",
        _in("groups.committed_offsets", "CommittedOffsets.end_transaction",
            records.offsets_end(True)),
        Anomaly.CONSUMED_TWICE, TRANSFORMS,
    ),
    PlantedBug(
        "aborted_offsets_are_kept",
        "An abort commits the offsets of its transaction.",
        "redpanda#10669",
        _in("groups.committed_offsets", "CommittedOffsets.end_transaction",
            records.offsets_end(False)),
        Anomaly.NEVER_CONSUMED, TRANSFORMS,
    ),
    PlantedBug(
        "an_end_keeps_the_epoch",
        "The end of a transaction does not raise the epoch.",
        "KAFKA-14402",
        _in("transactions.ending", "_decided", decisions.same_epoch),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "later_partitions_are_left_out",
        "The coordinator forgets a partition that is added behind the first ones.",
        "KAFKA-13782",
        _in("transactions.adding", "add", decisions.later_partitions_left_out),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "a_late_transaction_keeps_its_epoch",
        "The coordinator aborts a late transaction, and its producer may go on.",
        "KAFKA-6119",
        _in("transactions.adding", "add", decisions.late_abort_without_fence),
        Anomaly.UNBALANCED, TRANSFERS,
    ),
    PlantedBug(
        "a_decision_is_never_completed",
        "A decided transaction has its markers, and never ends.",
        "KAFKA-16352",
        _in("transactions.ending", "complete", decisions.endless_decision),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "the_offsets_are_not_in_the_transaction",
        "The coordinator does not add the group's partition to the transaction.",
        "redpanda#6423",
        _in("transactions.adding", "add", decisions.offsets_left_out),
        Anomaly.STUCK, TRANSFORMS,
    ),
    PlantedBug(
        "a_producer_id_is_given_twice",
        "Several transactional ids get one producer id.",
        "KAFKA-15552",
        _in("producers.producer_ids", "ProducerIds.new_producer", decisions.one_producer_id),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "a_new_producer_leaves_the_transaction",
        "The next producer of a transactional id goes on with the open transaction of "
        "the former one.",
        "redpanda#3232",
        _in("transactions.initializing", "initialize", decisions.open_transaction_left),
        Anomaly.ABORTED_READ, APPENDS,
    ),
    PlantedBug(
        "a_repeated_batch_is_stored_again",
        "A leader appends a batch that it has already.",
        "redpanda#3039",
        _in("validation.producer_check", "known_duplicate", records.batch_stored_again),
        Anomaly.DUPLICATE, APPENDS, lost="Produce",
    ),
    PlantedBug(
        "a_repeated_batch_has_another_offset",
        "A leader acknowledges a batch that it has already with another offset.",
        "redpanda#3003",
        _in("validation.producer_check", "known_duplicate", records.offset_before),
        Anomaly.INCONSISTENT_OFFSET, APPENDS, lost="Produce",
    ),
    PlantedBug(
        "the_stable_offset_is_the_newest_batch",
        "The last stable offset is at the newest batch of an open transaction.",
        "redpanda#10097",
        _in("producers.producer_states", "ProducerStates.remember", records.newest_batch_begins),
        Anomaly.INTERMEDIATE_READ, APPENDS,
    ),
    PlantedBug(
        "records_come_without_a_check",
        "A leader takes records of a transaction that does not have the partition.",
        "KAFKA-14402",
        WrongFunction(CHECKS, "_is_to_check", records.unchecked_transactions),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "older_offsets_replace_newer_ones",
        "Offsets of an earlier commit replace those of a later one.",
        "KAFKA-5247",
        _in("groups.committed_offsets", "CommittedOffsets.end_transaction",
            records.older_offsets),
        Anomaly.OFFSETS_BACK, TRANSFORMS,
    ),
)  # fmt: skip

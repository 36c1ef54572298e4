"""Targets on which each defect must show; CI runs them all.

Other targets may lack much. These may not, or a defect that CI never sees would count as proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from labs.defects.defect import Defect

ENDED = {
    "LISTO-016": "message.format.version, which went with 4.0",
    "RECF-025": "message.downconversion.enable, which went with 4.0",
    "RECF-026": "message.format.version, which went with 4.0",
    "RECV-031": "message.format.version, which went with 4.0",
}
"""Features that the newest Kafka no longer has, by requirement."""
ENDED_WITH_2_4 = {"IDEM-034": "the first sequence of a producer, which is free since 2.5"}
ENDED_JOINED = {"REPL-013": "what a leader alone commits, which changed with 3.7"}
"""For defects that virtual brokers join: no built-in cluster emulates so old a release."""
ENDED_CLUSTER = {"REPL-039": "message.format.version, which went with 4.0"}
QUORUM = {"RAFT-010": "controllers of which one can be lost"}
"""For defects of a cluster: the built-in one has a single controller."""
OF_TRANSACTIONS = (
    "an_open_transaction_is_no_hindrance",
    "a_replaced_producer_may_commit",
    "epochs_go_on_for_ever",
    "any_producer_id_may_add",
    "any_epoch_may_add",
    "a_partition_is_added_once",
    "good_partitions_have_no_error",
    "good_partitions_are_added_anyway",
    "a_transaction_ends_once",
    "each_end_raises_the_epoch",
    "an_ended_transaction_may_end_otherwise",
    "no_transaction_may_end",
    "an_empty_abort_keeps_the_epoch",
    "any_producer_id_may_end",
    "a_former_epoch_may_end",
    "an_epoch_to_come_may_end",
    "pending_offsets_are_visible",
    "the_end_decides_otherwise",
    "a_transaction_without_records_is_empty",
    "unstable_offsets_are_returned",
    "every_read_requires_stable_offsets",
    "any_generation_may_commit",
    "any_member_may_commit",
    "any_instance_may_commit",
    "a_replaced_producer_may_commit_offsets",
    "offsets_need_no_topic",
    "an_implicit_group_is_left_out",
    "the_two_ends_change_places",
    "a_partition_without_records_gets_no_marker",
    "markers_are_data",
    "markers_are_not_transactional",
    "the_type_precedes_the_version",
    "an_open_transaction_is_read",
    "aborted_transactions_are_not_listed",
    "every_read_is_committed",
    "all_is_stable",
    "the_first_open_transaction_stays",
    "open_transactions_hold_nothing_back",
    "one_aborted_transaction_is_enough",
    "a_committed_transaction_counts_as_aborted",
    "one_transaction_at_a_time",
    "list_offsets_has_one_isolation_level",
    "transactions_have_no_timeout",
    "a_late_producer_may_end",
    "a_producer_may_write_beside_its_transaction",
    "every_timeout_is_the_default",
    "a_transaction_has_no_partitions",
    "every_id_is_known",
    "transactions_of_all_states_are_listed",
    "transactions_of_all_producers_are_listed",
    "transactions_of_any_duration_are_listed",
    "unknown_filters_are_not_returned",
    "a_marker_is_always_a_commit",
    "a_former_coordinator_may_write",
    "transactional_ids_stay",
    "any_broker_gives_an_epoch",
    "any_broker_adds_partitions",
    "any_broker_adds_offsets",
    "any_broker_ends_transactions",
    "aborts_at_other_brokers_are_not_listed",
    "a_broker_has_coordinators_of_its_own",
    "the_next_transaction_begins_early",
    "a_prepared_transaction_ends_otherwise",
    "a_new_leader_knows_no_aborts",
)
"""Defects in answers about transactions, which the built-in broker has not yet."""
KAFKA_ALONE = {
    **dict.fromkeys(OF_TRANSACTIONS, "transactions, which the built-in broker has not yet"),
    "old_versions_are_answered": "a broker that does not convert, as the built-in one does",
    "what_was_aborted_counts_as_newest": "transactions, which the built-in broker has not yet",
    "a_transaction_has_every_partition": "transactions, which the built-in broker has not yet",
    "aborts_are_forgotten": "transactions, which the built-in broker has not yet",
    "described_groups_are_refused": "the groups of KIP-848, which the built-in broker has not yet",
}
"""Defects that no built-in broker shows, by name, with the feature that each needs."""

REFERENCE, KAFKA = "reference", "kafka:4.4.0"
ENDED_SEEN_ON = "reference,like=2.8.2"
ENDED_WITH_2_4_SEEN_ON = "reference,like=1.1.1"
JOINED_SEEN_ON = "reference,nodes=1"
ENDED_JOINED_SEEN_ON = "kafka:3.6.2"
CLUSTER_SEEN_ON = "reference,nodes=3"
ENDED_CLUSTER_SEEN_ON = "reference,nodes=3,like=2.8.2"
QUORUM_SEEN_ON = "kafka:4.4.0,nodes=3,controllers=3"


def _by_one_broker(defect: Defect) -> bool:
    is_of_one = not defect.cluster and not defect.joined and defect.name not in KAFKA_ALONE
    return is_of_one and (defect.built_in or defect.requirement not in {*ENDED, *ENDED_WITH_2_4})


SHOWN: Mapping[str, Callable[[Defect], bool]] = MappingProxyType(
    {
        REFERENCE: _by_one_broker,
        ENDED_SEEN_ON: lambda defect: defect.requirement in ENDED,
        ENDED_WITH_2_4_SEEN_ON: lambda defect: defect.requirement in ENDED_WITH_2_4,
        JOINED_SEEN_ON: lambda defect: defect.joined and defect.requirement not in ENDED_JOINED,
        ENDED_JOINED_SEEN_ON: lambda defect: defect.requirement in ENDED_JOINED,
        CLUSTER_SEEN_ON: lambda defect: (
            defect.cluster
            and defect.requirement not in {*QUORUM, *ENDED_CLUSTER}
            and defect.name not in KAFKA_ALONE
        ),
        ENDED_CLUSTER_SEEN_ON: lambda defect: defect.requirement in ENDED_CLUSTER,
        QUORUM_SEEN_ON: lambda defect: defect.requirement in QUORUM,
    }
)
"""By target: a predicate, True if the target has to show the defect."""


def shown_by_any(defect: Defect) -> bool:
    """True if one of the targets in SHOWN has to show it."""
    return any(shows(defect) for shows in SHOWN.values())

"""Defects of nullable fields: null where Kafka sends empty, and empty where it sends null."""

from __future__ import annotations

from harness.codec.messages import (
    CreateTopicsResponse,
    DescribeClientQuotasResponse,
    FetchResponse,
    FindCoordinatorResponse,
    ListPartitionReassignmentsResponse,
    MetadataResponse,
    OffsetFetchResponse,
)
from labs.defects.changed_field import changed_field
from labs.defects.edited_answer import answers
from labs.defects.one_client import of_client

JUDGE, FETCHING = of_client("ENC-015"), of_client("FETCH-061")
SENDS_EMPTY, SENDS_NULL = "is null; Kafka sends empty", "is empty; Kafka sends null"


def _without_records(answer: FetchResponse) -> None:
    for topic in answer.responses:
        for partition in topic.partitions:
            if not partition.records:
                partition.records = None


@answers("FETCH-061", r"the records are null, expected are empty ones", asked=FETCHING)
def empty_records_are_null(answer: FetchResponse) -> None:
    """Fetch sends null records for a partition without data."""
    _without_records(answer)


@answers("FETCH-061", r"error [A-Z_]+ \(\d+\): the records are null", asked=FETCHING)
def records_beside_an_error_are_null(answer: FetchResponse) -> None:
    """Fetch sends null records beside an error."""
    for topic in answer.responses:
        for partition in topic.partitions:
            if partition.error_code:
                partition.records = None


@answers("ENC-015", rf"Fetch v.*partitions\.records, beside .* {SENDS_EMPTY}", asked=JUDGE)
def records_of_any_fetch_are_null(answer: FetchResponse) -> None:
    """Fetch sends null records in place of empty ones, in a drawn conversation too."""
    _without_records(answer)


DEFECTS = [
    empty_records_are_null,
    records_beside_an_error_are_null,
    records_of_any_fetch_are_null,
    changed_field("ENC-015", "no_message_of_a_coordinator_is_null",
        rf"FindCoordinator v.*coordinators\.error_message, beside no error, {SENDS_EMPTY}",
        "FindCoordinator sends a null message where there is no error.",
        FindCoordinatorResponse, "coordinators.error_message", "", None, asked=JUDGE),
    changed_field("ENC-015", "no_metadata_of_an_offset_is_null",
        rf"OffsetFetch v.*topics\.partitions\.metadata, beside no error, {SENDS_EMPTY}",
        "OffsetFetch sends null for the metadata of an offset that was never committed.",
        OffsetFetchResponse, "topics.partitions.metadata", "", None, asked=JUDGE),
    changed_field("ENC-015", "no_quotas_are_null",
        rf"DescribeClientQuotas v.*: entries, beside no error, {SENDS_EMPTY}",
        "DescribeClientQuotas sends null where no entity has quotas.",
        DescribeClientQuotasResponse, "entries", [], None, where={"error_code": 0}, asked=JUDGE),
    changed_field("ENC-015", "no_message_of_reassignments_is_empty",
        rf"ListPartitionReassignments v.*error_message, beside no error, {SENDS_NULL}",
        "ListPartitionReassignments sends an empty message where there is no error.",
        ListPartitionReassignmentsResponse, "error_message", None, "", asked=JUDGE),
    changed_field("ENC-015", "no_message_of_a_new_topic_is_empty",
        rf"CreateTopics v.*topics\.error_message, beside no error, {SENDS_NULL}",
        "CreateTopics sends an empty message for a topic that it creates.",
        CreateTopicsResponse, "topics.error_message", None, "", asked=JUDGE),
    changed_field("ENC-015", "no_rack_is_an_empty_one",
        rf"Metadata v.*brokers\.rack, beside no error, {SENDS_NULL}",
        "Metadata sends an empty rack for a broker without one.",
        MetadataResponse, "brokers.rack", None, "", range(1, 99), asked=JUDGE),
]  # fmt: skip

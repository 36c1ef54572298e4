"""FETCH-061: a partition without data has empty records; clients refuse null.

librdkafka reports a protocol error for each partition with null records, and reads on.
"""

from __future__ import annotations

from uuid import UUID

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.fetching import NO_PARTITION, VALUES, log_of_nine, partitions_of
from suites.protocol.support.kept_topics import KeptTopics

FULL_FETCH, NEW_SESSION = -1, 0
"""Session epochs with the session id 0."""
SESSIONS_FROM, LEADER_EPOCHS_FROM = 7, 9
"""Versions of Fetch."""


def _asked(topic: Topic, version: int) -> dict[str, FetchRequest.FetchTopic]:
    """Return requests for nothing, by name; other requirements judge that there is no data.

    Partition 1 of the topic has no records.
    """
    nowhere = Topic("nowhere", UUID(int=1 << 100))
    end = len(VALUES)
    partitions = {
        "an empty log": (topic, fetch_partition(0, partition=1)),
        "the end of a log": (topic, fetch_partition(end)),
        "an offset out of range": (topic, fetch_partition(end + 1)),
        "an unknown partition": (topic, fetch_partition(0, partition=NO_PARTITION)),
        "an unknown topic": (nowhere, fetch_partition(0)),
    }
    if version >= LEADER_EPOCHS_FROM:
        newer = fetch_partition(0)
        newer.current_leader_epoch = 1_000
        partitions["a newer leader epoch"] = topic, newer
    return {where: fetch_topic(of, version, [one]) for where, (of, one) in partitions.items()}


def _expect_no_null(response: FetchResponse, where: str) -> None:
    found = partitions_of(response)
    assert found, f"{where}: the response has no partition"
    for one in found:
        error = ErrorCode.describe(one.error_code)
        told = f"{where}, error {error}: the records are null, expected are empty ones"
        assert one.records is not None, told


@judges("FETCH-061")
@at_versions("Fetch", "0-3", "4-11", "12+")
def test_partition_without_data_has_empty_records_never_null(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """At log ends and beside errors; from v7 on also in the first response of a session."""
    topic = kept.topic(broker, log_of_nine)
    connection = broker.connect("FETCH-061")
    epochs = (FULL_FETCH, NEW_SESSION) if api_version >= SESSIONS_FROM else (FULL_FETCH,)
    with requirement("FETCH-061") as check:
        for where, wanted in _asked(topic, api_version).items():
            for epoch in epochs:
                place = f"{where}, session epoch {epoch}"
                with check.subtest(place):
                    request = fetch_request([wanted])
                    request.session_epoch = epoch
                    _expect_no_null(connection.ask(request, api_version), place)

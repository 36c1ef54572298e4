"""FETCH: answers that are lost on their way to the consumer, and the debugging consumer."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.client.requests import fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.faults import Faults, responses
from harness.marks import at_versions, judges
from suites.protocol.appended import append, batch_of
from suites.protocol.expect import expect_error
from suites.protocol.fetch_session import fetch_session
from suites.protocol.fetching import VALUES, entry_of, log_of_nine, partition_of, values_of
from suites.protocol.kept_topics import KeptTopics

DEBUG_REPLICA = -2
IN_REPLICA_STATE = 15  # KIP-903: from this version on the replica id is a tagged field


@judges("FETCH-030")
@at_versions("Fetch", "7-12", "13+")
def test_an_epoch_whose_answer_was_lost_is_not_asked_twice(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """The answer of an incremental fetch is lost: its epoch is used up, the next one goes on on
    another connection; nothing that was appended meanwhile is missing.
    """
    topic = broker.create_topic()
    wanted = [fetch_topic(topic, api_version, [fetch_partition(0)])]
    with fetch_session(broker, api_version, wanted) as session:
        append(broker, topic, batch_of(b"while lost"))
        with faults.path(responses("Fetch").first().close()) as path:
            lost = session.next_request()
            with pytest.raises(ConnectionClosed):
                broker.connect(through=path.address).ask(lost, api_version)
            path.expect_fired()
            with requirement("FETCH-030"):
                again = broker.connect(through=path.address).ask(lost, api_version)
                expect_error(again.error_code, ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                             "the epoch whose answer was lost")  # fmt: skip
                answer = session.ask(wanted)
                expect_error(answer.error_code, ErrorCode.NONE, "the next epoch")
                assert values_of(partition_of(answer)) == [b"while lost"]


@judges("FETCH-020")
@at_versions("Fetch", "0-3", "4-12", "13-14", "15+")
def test_the_debugging_consumer_is_served(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A fetch with replica id -2 of nine records that all replicas have."""
    topic = kept.topic(broker, log_of_nine)
    request = fetch_request([entry_of(topic, api_version, {0: 0})])
    if api_version >= IN_REPLICA_STATE:
        request.replica_state.replica_id = DEBUG_REPLICA
    else:
        request.replica_id = DEBUG_REPLICA
    with requirement("FETCH-020"):
        data = partition_of(broker.ask(request, api_version))
        expect_error(data.error_code, ErrorCode.NONE, "replica id -2")
        assert values_of(data) == VALUES

"""TOPIC: requests that a client sends again unchanged, after the loss of the response."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.only import only
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreatePartitionsRequest, CreateTopicsRequest
from harness.conformance.checks import requirement
from harness.runner.faults import Faults
from harness.runner.marks import judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.lost_answers import lose_the_answer
from suites.protocol.support.topic_admin import creatable, described


@judges("TOPIC-006")
def test_create_topics_retry_after_lost_response_returns_topic_already_exists(
    broker: BrokerUnderTest, faults: Faults
) -> None:
    """The topic exists, and the identical retry gets TOPIC_ALREADY_EXISTS."""
    version = broker.version("CreateTopics")
    name = broker.unique_topic()
    broker.delete_later(name)
    request = CreateTopicsRequest(topics=[creatable(name, 2)], timeout_ms=DEFAULT_TIMEOUT_MS)
    lose_the_answer(broker, faults, request, version)
    key = api_named("CreateTopics").key
    with requirement("TOPIC-006", api_key=key, api_version=version):
        again = broker.connect().ask(request, version)
        code = only(again.topics, "topic").error_code
        expect_error(code, ErrorCode.TOPIC_ALREADY_EXISTS, "the retry")
        count = len(described(broker, name, partitions=2).partitions)
        assert count == 2, f"{count} partitions, asked for were 2"


@judges("TOPIC-025")
def test_create_partitions_retry_after_lost_response_returns_invalid_partitions(
    broker: BrokerUnderTest, faults: Faults
) -> None:
    """The partitions exist, and the identical retry gets INVALID_PARTITIONS."""
    version = broker.version("CreatePartitions")
    name = broker.create_topic().name
    entry = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=4, assignments=None)
    request = CreatePartitionsRequest(topics=[entry], timeout_ms=DEFAULT_TIMEOUT_MS)
    lose_the_answer(broker, faults, request, version)
    key = api_named("CreatePartitions").key
    with requirement("TOPIC-025", api_key=key, api_version=version):
        again = broker.connect().ask(request, version)
        code = only(again.results, "topic").error_code
        expect_error(code, ErrorCode.INVALID_PARTITIONS, "the retry")
        count = len(described(broker, name, partitions=4).partitions)
        assert count == 4, f"{count} partitions after a retry, asked for were 4"

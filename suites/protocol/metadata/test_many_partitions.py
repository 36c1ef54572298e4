"""META: topics with many partitions."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics

PARTITIONS = 300  # more than a byte can number
CREATED_SOON = "10+"  # versions of Metadata since 2.8


def _wide(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(partitions=PARTITIONS)


@judges("META-033")
@at_versions("Metadata")
def test_metadata_returns_each_of_many_partitions(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """By the name, and among all topics: each partition once, without an error, with a leader.

    Releases before 2.8 take long to create so many partitions, and hold up other tests.
    """
    broker.version("Metadata", CREATED_SOON)
    name = kept.topic(broker, _wide).name
    named = [MetadataRequest.MetadataRequestTopic(name=name)]
    wanted = {"by name": named, "all topics": None if api_version else []}
    with requirement("META-033") as check:
        for how, topics in wanted.items():
            with check.subtest(how):
                answer = broker.ask(MetadataRequest(topics=topics), api_version)
                topic = only([each for each in answer.topics if each.name == name], "topic")
                expect_error(topic.error_code, ErrorCode.NONE, how)
                indexes = sorted(each.partition_index for each in topic.partitions)
                assert indexes == list(range(PARTITIONS)), (
                    f"{how}: {len(indexes)} partitions, the topic has {PARTITIONS}"
                )
                wrong = [p for p in topic.partitions if p.error_code or p.leader_id < 0]
                assert not wrong, f"{how}: {len(wrong)} partitions without a leader: {wrong[0]}"

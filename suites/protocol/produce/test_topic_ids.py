"""PROD: topics that a request names by id (KIP-516)."""

from __future__ import annotations

from uuid import UUID

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.gone_topics import delete_topic


@judges("PROD-025")
@at_versions("Produce", "13+")
def test_produce_by_unknown_or_stale_topic_id_returns_unknown_topic_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The id finds the topic; one that no topic has, or has any more, is unknown.

    Nothing is appended to the topic that now has the name of the deleted one.
    """
    topic, deleted = broker.create_topic(), broker.create_topic()
    delete_topic(broker, deleted)
    again = broker.create_topic(name=deleted.name)
    unknown = Topic("", UUID(int=broker.random.getrandbits(128), version=4))
    with requirement("PROD-025") as check:
        for where, asked, expected in (
            ("known id", topic, ErrorCode.NONE),
            ("unknown id", unknown, ErrorCode.UNKNOWN_TOPIC_ID),
            ("stale id", deleted, ErrorCode.UNKNOWN_TOPIC_ID),
        ):
            with check.subtest(where):
                answer = broker.produce(asked, batch_of(b"x"), api_version)
                expect_error(answer.error_code, expected, where)
        ends = broker.end_offset(topic), broker.end_offset(again)
        told = f"logs of the topic and of the one that was created again end at {ends}"
        assert ends == (1, 0), f"{told}, expected (1, 0)"

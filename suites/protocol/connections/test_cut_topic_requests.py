"""CONN: a connection that is cut in the middle of a request that makes or deletes topics."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, DeleteTopicsRequest
from harness.conformance.checks import requirement
from harness.runner.faults import Faults
from harness.runner.marks import at_versions, judges
from suites.protocol.support.cut_requests import LONG_STEP_BYTES, cuts, send_cut
from suites.protocol.support.topic_admin import (
    FIRST_DELETE_BY_ID,
    Deletable,
    ask_to_delete,
    creatable,
    expect_not_created,
)

CLIENT = "CONN-022"


@judges("CONN-022")
@at_versions("CreateTopics", "0-1", "2-4", "5+")
def test_cut_create_topics_creates_no_topic(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """A CreateTopics for three topics is cut in each of them, and behind the last."""
    names = [broker.unique_topic() for _ in range(3)]
    request = CreateTopicsRequest(
        topics=[creatable(name) for name in names], timeout_ms=DEFAULT_TIMEOUT_MS
    )
    with requirement("CONN-022"), faults.path() as path:
        at_bytes = cuts(request, api_version, CLIENT, LONG_STEP_BYTES)
        send_cut(broker, path, request, api_version, CLIENT, at_bytes)
        expect_not_created(broker, *names)


@judges("CONN-022")
@at_versions("DeleteTopics", "0-3", "4-5", "6+")
def test_cut_delete_topics_deletes_no_topic(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """A DeleteTopics for two topics is cut; when a third topic is gone, they are still there."""
    kept, sacrificed = [broker.create_topic() for _ in range(2)], broker.create_topic()
    names = [topic.name for topic in kept]
    request = DeleteTopicsRequest(timeout_ms=DEFAULT_TIMEOUT_MS)
    if api_version >= FIRST_DELETE_BY_ID:
        request.topics = [Deletable(name=name) for name in names]
    else:
        request.topic_names = names
    with requirement("CONN-022"), faults.path() as path:
        at_bytes = cuts(request, api_version, CLIENT, LONG_STEP_BYTES)
        send_cut(broker, path, request, api_version, CLIENT, at_bytes)
        gone = ask_to_delete(broker, api_version, sacrificed.name)
        gone.expect(sacrificed.name, ErrorCode.NONE, "a whole request")
        shown = {topic.name: topic.error_code for topic in broker.metadata(None).topics}
        for name in names:
            assert shown.get(name) == ErrorCode.NONE, f"{name} was deleted by half a request"

"""TOPIC: topics that DeleteTopics refuses to delete, beside others of the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.topic_admin import ask_to_delete_states

GONE_MS = 10_000
Entry = tuple[str | None, UUID]

# The entries about a topic that is refused.
REFUSED: Mapping[str, Callable[[Topic], list[Entry]]] = {
    "name and id in one entry": lambda topic: [(topic.name, topic.id)],
    "a name twice": lambda topic: [(topic.name, ZERO_UUID)] * 2,
    "an id twice": lambda topic: [(None, topic.id)] * 2,
    "once by name, once by id": lambda topic: [(topic.name, ZERO_UUID), (None, topic.id)],
    "once by id, once by name": lambda topic: [(None, topic.id), (topic.name, ZERO_UUID)],
}


@judges("TOPIC-041")
@at_versions("DeleteTopics", "6+")
def test_delete_topics_keeps_refused_topics_and_deletes_others_by_name_and_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Topics that stand in the request twice or with name and id, between two that are deleted."""
    topics = {given: broker.create_topic() for given in REFUSED}
    by_name, by_id = broker.create_topic(), broker.create_topic()
    entries = [entry for given, topic in topics.items() for entry in REFUSED[given](topic)]
    with requirement("TOPIC-041") as check:
        results = ask_to_delete_states(
            broker, api_version, (by_name.name, ZERO_UUID), *entries, (None, by_id.id)
        )
        errors = {
            topic.name: {
                r.error_code for r in results if topic.name == r.name or topic.id == r.topic_id
            }
            for topic in (*topics.values(), by_name, by_id)
        }
        left = broker.last_seen(
            lambda: _listed(broker).keys(),
            lambda names: names.isdisjoint((by_name.name, by_id.name)),
            GONE_MS,
        )
        for how, topic in (("name", by_name), ("id", by_id)):
            with check.subtest(f"another topic by {how}"):
                assert errors[topic.name] == {0}, f"another topic by {how}: {errors[topic.name]}"
                assert topic.name not in left, f"another topic by {how} is still listed"
        shown = _listed(broker)
        for given, topic in topics.items():
            with check.subtest(given):
                assert errors[topic.name], f"{given}: no result"
                for error in errors[topic.name]:
                    expect_error(error, ErrorCode.INVALID_REQUEST, given)
                assert shown.get(topic.name) == topic.id, (
                    f"{given}: refused, and not there any more"
                )


def _listed(broker: BrokerUnderTest) -> dict[str | None, UUID]:
    """Return the ids of all topics by their names."""
    return {topic.name: topic.topic_id for topic in broker.metadata(None).topics}

"""TOPIC: names that a broker may take for another one, or cannot keep in files as they are."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import values_of
from suites.protocol.support.gone_topics import await_gone, create_again
from suites.protocol.support.topic_admin import (
    ask_to_create,
    ask_to_delete,
    creatable_here,
    described,
)

CREATE_TOPICS = api_named("CreateTopics")
LONGEST_NAME_CHARACTERS = 249
VALUES = [b"first", b"second"]


def _created(broker: BrokerUnderTest, version: int, name: str) -> Topic:
    results = ask_to_create(broker, version, creatable_here(broker, name))
    results.expect(name, ErrorCode.NONE, f"creation of {name}")
    topic = Topic(name, described(broker, name).topic_id)
    broker.await_served(topic, 0)
    return topic


def _deleted(broker: BrokerUnderTest, name: str) -> None:
    results = ask_to_delete(broker, broker.version("DeleteTopics"), name)
    results.expect(name, ErrorCode.NONE, f"deletion of {name}")
    await_gone(broker, name)


@judges("TOPIC-043")
@at_versions("CreateTopics")
def test_topics_whose_names_differ_in_case_alone_are_different_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each has records of its own, and the deletion of one leaves the other."""
    prefix = broker.unique_topic()
    with requirement("TOPIC-043"):
        small = _created(broker, api_version, f"{prefix}-orders")
        append(broker, small, batch_of(*VALUES))
        capital = _created(broker, api_version, f"{prefix}-Orders")
        ends = broker.end_offset(small), broker.end_offset(capital)
        assert ends == (len(VALUES), 0), f"log ends are {ends}: two records, and none"
        append(broker, capital, batch_of(b"other"))
        _deleted(broker, capital.name)
        found = values_of(broker.fetch(small, 0))
        assert found == VALUES, f"after the deletion of {capital.name}: {found} in {small.name}"


@judges("TOPIC-044")
@needs_broker(Use.OWN)
def test_topic_with_longest_name_is_written_deleted_and_created_again(
    broker: BrokerUnderTest,
) -> None:
    """With 249 characters, as a folder it leaves no room for a suffix.

    A release that cannot rename the folder ends, so the broker is one of its own.
    """
    version = broker.version("CreateTopics")
    name = broker.unique_topic().ljust(LONGEST_NAME_CHARACTERS, "x")
    with requirement("TOPIC-044", api_key=CREATE_TOPICS.key, api_version=version):
        topic = _created(broker, version, name)
        append(broker, topic, batch_of(*VALUES))
        found = values_of(broker.fetch(topic, 0))
        assert found == VALUES, f"records of a name of 249 characters: {found}"
        _deleted(broker, name)
        again = create_again(broker, name)
        end = broker.end_offset(again)
        assert end == 0, f"created again the log ends at {end}"

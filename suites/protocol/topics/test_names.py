"""TOPIC: which names a topic may have."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.gone_topics import delete_topic
from suites.protocol.support.kept_topics import KeptTopics, Make
from suites.protocol.support.topic_admin import (
    ask_to_create,
    creatable,
    described,
    expect_not_created,
)

CLUSTER_METADATA = "__cluster_metadata"
LONGEST_NAME_CHARACTERS = 249
ILLEGAL_NAMES = {"no name": "", "one dot": ".", "two dots": ".."}
ILLEGAL_ENDINGS = {
    "a slash": "/b",
    "a blank": " b",
    "a colon": ":b",
    "a letter outside of ASCII": "\u00e4",
    "a line feed at the end": "\n",
}


def _illegal_names(broker: BrokerUnderTest) -> dict[str, str]:
    """Return illegal names by their fault.

    Where possible they are unique to the test, as a broker may accept them.
    """
    too_long = broker.unique_topic().ljust(LONGEST_NAME_CHARACTERS + 1, "x")
    ended = {where: broker.unique_topic() + end for where, end in ILLEGAL_ENDINGS.items()}
    return {**ILLEGAL_NAMES, "250 characters": too_long, **ended}


def _with_dots(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(name=f"{broker.unique_topic()}-a.b.c")


def _with_underscores(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(name=f"{broker.unique_topic()}-d_e_f")


def _with_both(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(name=f"{broker.unique_topic()}-g.h_i")


@judges("TOPIC-015")
@at_versions("CreateTopics")
def test_create_topics_with_illegal_name_returns_invalid_topic_exception(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """All in one request, each of them otherwise fine."""
    names = _illegal_names(broker)
    with requirement("TOPIC-015") as check:
        topics = [creatable(name) for name in names.values()]
        results = ask_to_create(broker, api_version, *topics)
        for where, name in names.items():
            with check.subtest(where):
                results.expect(name, ErrorCode.INVALID_TOPIC_EXCEPTION, where)
        with check.subtest("nothing is created"):
            expect_not_created(broker, *names.values())


@judges("TOPIC-015")
@at_versions("CreateTopics", "1+")
def test_create_topics_with_legal_name_passes_validation(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """249 characters, and every kind of character that is legal; only validated."""
    long = broker.unique_topic().ljust(LONGEST_NAME_CHARACTERS, "x")
    mixed = f"{broker.unique_topic()}-A.z_0"
    with requirement("TOPIC-015"):
        topics = creatable(long), creatable(mixed)
        results = ask_to_create(broker, api_version, *topics, validate_only=True)
        results.expect(long, ErrorCode.NONE, "249 characters")
        results.expect(mixed, ErrorCode.NONE, "letters, a digit, '.', '_' and '-'")


@judges("TOPIC-016")
@at_versions("CreateTopics")
@pytest.mark.parametrize("make", [_with_dots, _with_underscores, _with_both])
def test_create_topics_with_colliding_name_returns_invalid_topic_exception(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, make: Make
) -> None:
    """Metric names are the same for both."""
    there = kept.topic(broker, make).name
    own, ending = there[:-5], there[-5:]  # the prefix of all our names may have such characters too
    name = own + ending.translate(str.maketrans("._", "_."))
    with requirement("TOPIC-016"):
        results = ask_to_create(broker, api_version, creatable(name))
        results.expect(name, ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name[-5:]} beside {there[-5:]}")


@judges("TOPIC-016")
@at_versions("CreateTopics")
def test_create_topics_with_name_that_collides_with_deleted_topic_succeeds(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Refused while the other topic exists, created after its deletion."""
    there = _with_dots(broker)
    name = there.name[:-5] + "a_b_c"
    with requirement("TOPIC-016"):
        results = ask_to_create(broker, api_version, creatable(name))
        results.expect(name, ErrorCode.INVALID_TOPIC_EXCEPTION, "beside the other topic")
    delete_topic(broker, there)
    with requirement("TOPIC-016"):
        results = ask_to_create(broker, api_version, creatable(name))
        results.expect(name, ErrorCode.NONE, "after the deletion of the other topic")
        described(broker, name)


@judges("TOPIC-018")
@at_versions("CreateTopics")
def test_create_topics_with_duplicate_name_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The topic that stands there twice is not created, the one beside it is."""
    twice, once = broker.unique_topic(), broker.unique_topic()
    with requirement("TOPIC-018"):
        topics = creatable(twice), creatable(once), creatable(twice)
        results = ask_to_create(broker, api_version, *topics)
        results.expect(twice, ErrorCode.INVALID_REQUEST, "the topic named twice")
        results.expect(once, ErrorCode.NONE, "the topic named once")
        described(broker, once)
        expect_not_created(broker, twice)


@judges("TOPIC-020")
@at_versions("CreateTopics", "1+")
def test_create_topics_of_cluster_metadata_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Only validated, so that nothing comes into being on a broker that would create it."""
    with requirement("TOPIC-020"):
        topic = creatable(CLUSTER_METADATA)
        results = ask_to_create(broker, api_version, topic, validate_only=True)
        results.expect(CLUSTER_METADATA, ErrorCode.INVALID_REQUEST)

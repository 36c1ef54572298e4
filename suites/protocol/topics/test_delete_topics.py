"""TOPIC: DeleteTopics, and what is left of a topic after it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import EARLIEST, LATEST, Topic
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.versions import VersionRange
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.config_admin import TOPIC, ShownSource, configs_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of
from suites.protocol.support.gone_topics import await_gone, create_again, delete_topic
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.topic_admin import (
    Created,
    Results,
    ask_to_create,
    ask_to_delete,
    ask_to_delete_states,
    creatable_here,
    described,
)

# A partition may be served for a moment longer than its topic is shown.
STILL_GOING = frozenset({ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER})
UNKNOWN_NAME, UNKNOWN_ID = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID
GONE_MS = 10_000
BY_NAME, BY_ID = "4-12", "13+"  # versions of Produce and Fetch (KIP-516)


def _expect_unknown(
    broker: BrokerUnderTest, topic: Topic, versions: str, expected: ErrorCode
) -> None:
    """Metadata, Produce and Fetch no longer know the topic; asked again while it is going."""
    batch = batch_of(b"too late")
    fetch_version = broker.version("Fetch", versions)
    asked: dict[str, tuple[ErrorCode, Callable[[], int]]] = {
        "Metadata": (
            UNKNOWN_NAME,
            lambda: only(broker.metadata([topic.name]).topics, "topic").error_code,
        ),
        "Fetch": (expected, lambda: broker.fetch(topic, 0, fetch_version).error_code),
    }
    if broker.advertised("Produce") & VersionRange.parse(versions):
        version = broker.version("Produce", versions)
        asked["Produce"] = expected, lambda: broker.produce(topic, batch, version).error_code
    for name, (error, ask) in asked.items():
        expect_error(_first_refusal(broker, ask, name), error, name)


def _first_refusal(broker: BrokerUnderTest, ask: Callable[[], int], what: str) -> int:
    def refusal() -> int | None:
        code = ask()
        return None if code in STILL_GOING else code

    return broker.eventually(refusal, f"{what} no longer knows a deleted topic")


@judges("TOPIC-028")
@at_versions("DeleteTopics")
def test_topic_deleted_by_name_is_unknown_to_metadata_produce_and_fetch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Deleted by its name, and asked for by its name."""
    topic = broker.create_topic()
    with requirement("TOPIC-028"):
        ask_to_delete(broker, api_version, topic.name).expect(topic.name, ErrorCode.NONE)
        _expect_unknown(broker, topic, BY_NAME, UNKNOWN_NAME)


@judges("TOPIC-028")
@at_versions("DeleteTopics", "6+")
def test_topic_deleted_by_id_is_unknown_to_metadata_produce_and_fetch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Deleted by its id, and asked for by its id."""
    topic = broker.create_topic()
    with requirement("TOPIC-028"):
        (result,) = ask_to_delete_states(broker, api_version, (None, topic.id))
        expect_error(result.error_code, ErrorCode.NONE)
        _expect_unknown(broker, topic, BY_ID, UNKNOWN_ID)


@judges("TOPIC-028")
@at_versions("DeleteTopics", "6+")
def test_id_of_deleted_topic_stays_unknown_to_produce_and_fetch_after_recreation(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A client with the old id neither writes to the new topic of the name nor reads from it."""
    topic, batch = broker.create_topic(), batch_of(b"of the old topic")
    with requirement("TOPIC-028"):
        ask_to_delete_states(broker, api_version, (None, topic.id))
        _expect_unknown(broker, topic, BY_ID, UNKNOWN_ID)
        again = create_again(broker, topic.name)
        version = broker.version("Fetch", BY_ID)
        expect_error(broker.fetch(topic, 0, version).error_code, UNKNOWN_ID, "Fetch")
        if broker.advertised("Produce") & VersionRange.parse(BY_ID):
            version = broker.version("Produce", BY_ID)
            expect_error(broker.produce(topic, batch, version).error_code, UNKNOWN_ID, "Produce")
        assert broker.end_offset(again) == 0, "the new topic has records for the old one"


@judges("TOPIC-029")
@at_versions("CreateTopics")
def test_recreated_topic_starts_empty_at_offset_0(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The records of the first topic of this name are not in the second, before and after its
    first record.
    """
    first = broker.create_topic()
    append(broker, first, batch_of(b"old", b"records"))
    delete_topic(broker, first)
    with requirement("TOPIC-029"):
        again = _create_again(broker, api_version, first.name)
        earliest = broker.list_offset(again, EARLIEST).offset
        latest = broker.list_offset(again, LATEST).offset
        assert (earliest, latest) == (0, 0), f"the log goes from {earliest} to {latest}"
        assert not broker.fetch(again, 0).records, "the old records can be fetched"
        append(broker, again, batch_of(b"new"))
        latest = broker.list_offset(again, LATEST).offset
        assert latest == 1, f"behind its first record the log ends at {latest}"
        found = values_of(broker.fetch(again, 0))
        assert found == [b"new"], f"with its first record the topic has {found}"


@judges("TOPIC-037")
@at_versions("DeleteTopics")
def test_recreated_topic_has_no_config_of_deleted_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One that gets no configs, then one that gets another: only that one is the topic's own."""
    broker.version("DescribeConfigs", "1+")
    deleted = {
        "retention.ms": "1000000",
        "cleanup.policy": "compact",
        "max.message.bytes": "3000",
        "compression.type": "gzip",
        "message.timestamp.type": "LogAppendTime",
    }
    topic, other = broker.create_topic(configs=deleted), {"segment.ms": "2000000"}
    givens: list[dict[str, str]] = [{}, other]
    with requirement("TOPIC-037"):
        for given in givens:
            results = ask_to_delete(broker, api_version, topic.name)
            results.expect(topic.name, ErrorCode.NONE, "the deletion")
            await_gone(broker, topic.name)
            topic = create_again(broker, topic.name, configs=given)
            shown = configs_of(broker, (TOPIC, topic.name))
            own = {
                key: config.value
                for key, config in shown.items()
                if config.config_source == ShownSource.TOPIC and key != "min.insync.replicas"
            }
            assert own == given, f"created with {given}, the topic has {own} of its own"
            values = {key: shown[key].value for key in deleted}
            kept = {key for key, value in values.items() if value == deleted[key]}
            assert not kept, f"the values of the deleted topic are in effect: {values}"


@judges("IDEM-025")
@at_versions("Produce", "3+")
def test_recreated_topic_does_not_know_producers_of_deleted_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The deleted topic's batch is sent to the new one, twice: first new, then repeated."""
    old, producer = broker.create_topic(), new_producer(broker)
    append(broker, old, producer.batch(0, b"a", b"b"))
    delete_topic(broker, old)
    topic = create_again(broker, old.name)
    with requirement("IDEM-025"):
        batch = producer.batch(0, b"a", b"b")
        for again, end in ((False, 2), (True, 2)):
            answer = broker.produce(topic, batch, api_version)
            where = f"the batch, {'once more' if again else 'new to the topic'}"
            expect_error(answer.error_code, ErrorCode.NONE, where)
            assert answer.base_offset == 0, f"{where}: acknowledged at {answer.base_offset}"
            found = broker.end_offset(topic)
            assert found == end, f"{where}: the log ends at {found}, not {end}"


def _create_again(broker: BrokerUnderTest, version: int, name: str) -> Topic:
    """Create a topic again that is gone; return it when it is served.

    With v0 alone no creation can be tried before, and the name may become free a bit later.
    """

    def answered() -> Results[Created] | None:
        results = ask_to_create(broker, version, creatable_here(broker, name))
        taken = results[name][0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
        return None if taken else results

    broker.eventually(answered, f"the name {name} is free").expect(name, ErrorCode.NONE)
    again = Topic(name, described(broker, name).topic_id)
    broker.await_served(again)
    return again


@judges("TOPIC-030")
@at_versions("DeleteTopics")
def test_delete_topics_of_unknown_name_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A name that no topic has."""
    name = broker.unique_topic()
    with requirement("TOPIC-030"):
        ask_to_delete(broker, api_version, name).expect(name, UNKNOWN_NAME)


@judges("TOPIC-030")
@at_versions("DeleteTopics", "6+")
def test_delete_topics_of_unknown_id_returns_unknown_topic_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An id that no topic has."""
    unknown = UUID(int=broker.random.getrandbits(128), version=4)
    with requirement("TOPIC-030"):
        (result,) = ask_to_delete_states(broker, api_version, (None, unknown))
        expect_error(result.error_code, UNKNOWN_ID)


@judges("TOPIC-030")
@at_versions("DeleteTopics", "6+")
def test_delete_topics_of_id_of_deleted_topic_keeps_recreated_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A repeated deletion by id does not delete the new topic that has the name."""
    topic = broker.create_topic()
    delete_topic(broker, topic)
    again = create_again(broker, topic.name)
    with requirement("TOPIC-030"):
        (result,) = ask_to_delete_states(broker, api_version, (None, topic.id))
        expect_error(result.error_code, UNKNOWN_ID, "the id of the deleted topic")
        append(broker, again, batch_of(b"kept"))
        assert described(broker, again.name).topic_id == again.id, "the new topic is not there"


@judges("TOPIC-038")
@at_versions("DeleteTopics", "6+")
@pytest.mark.parametrize("by", ["name", "id"])
def test_delete_topics_returns_name_and_id_of_deleted_topic(
    broker: BrokerUnderTest, api_version: int, by: str
) -> None:
    """Three topics, each with its own name and id, are gone; with a ZooKeeper one by name has no
    id."""
    topics = [broker.create_topic() for _ in range(3)]
    named = [(t.name, ZERO_UUID) if by == "name" else (None, t.id) for t in topics]
    with requirement("TOPIC-038"):
        results = ask_to_delete_states(broker, api_version, *named)
        errors = {r.name: r.error_code for r in results if r.error_code != ErrorCode.NONE}
        assert not errors, f"deleted by {by}: errors are {errors}"
        found, expected = {r.name: r.topic_id for r in results}, {t.name: t.id for t in topics}
        if by == "name" and set(found.values()) == {ZERO_UUID}:
            expected = dict.fromkeys(expected, ZERO_UUID)
        assert found == expected, f"deleted by {by}: {found}, expected {expected}"
        left = broker.last_seen(lambda: _listed(broker, topics), lambda names: not names, GONE_MS)
        assert not left, f"deleted by {by}: {sorted(left)} are still listed"


def _listed(broker: BrokerUnderTest, topics: list[Topic]) -> set[str]:
    """Return the names of these topics that Metadata has, among all."""
    shown = {topic.name for topic in broker.metadata(None).topics}
    return {topic.name for topic in topics} & shown


@judges("TOPIC-031")
@at_versions("DeleteTopics", "6+")
@pytest.mark.parametrize("given", ["neither", "both", "a name twice", "an id twice"])
def test_delete_topics_with_invalid_or_duplicate_entry_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int, given: str
) -> None:
    """Each of them about a topic that exists."""
    topic = broker.create_topic()
    states: dict[str, list[tuple[str | None, UUID]]] = {
        "neither": [(None, ZERO_UUID)],
        "both": [(topic.name, topic.id)],
        "a name twice": [(topic.name, ZERO_UUID)] * 2,
        "an id twice": [(None, topic.id)] * 2,
    }
    with requirement("TOPIC-031"):
        results = ask_to_delete_states(broker, api_version, *states[given])
        assert results, f"{given}: the answer has no result"
        for result in results:
            expect_error(result.error_code, ErrorCode.INVALID_REQUEST, given)

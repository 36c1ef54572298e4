"""FETCH: sessions and incremental fetches (KIP-227)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, topic_with_batches
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import fetch_session, forget
from suites.protocol.support.fetching import (
    VALUES,
    entry_of,
    log_of_nine,
    partitions_of,
    values_of,
)
from suites.protocol.support.kept_topics import KeptTopics

INT32_MAX = 2**31 - 1


def _one_record_each(broker: BrokerUnderTest) -> Topic:
    """Two partitions with one record each."""
    return topic_with_batches(broker, 2, batch_of(b"old"))


def _at_the_end(topic: Topic, version: int) -> FetchRequest.FetchTopic:
    """Both partitions, read up to their end."""
    wanted = [fetch_partition(1, partition=index) for index in range(2)]
    return fetch_topic(topic, version, wanted)


def _named(response: FetchResponse) -> list[int]:
    """The partitions that the answer names."""
    return sorted(p.partition_index for p in partitions_of(response))


@judges("FETCH-026")
@at_versions("Fetch", "7+")
def test_sessionless_fetch_returns_all_partitions(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Session id 0, epoch -1: every partition is in every answer, the session id is 0."""
    topic = kept.topic(broker, _one_record_each)
    request = fetch_request([_at_the_end(topic, api_version)])
    connection = broker.connect()
    with requirement("FETCH-026"):
        for _ in range(2):
            response = connection.ask(request, api_version)
            expect_error(response.error_code, ErrorCode.NONE)
            assert response.session_id == 0, f"session id {response.session_id} without a session"
            assert _named(response) == [0, 1]


@judges("FETCH-027")
@at_versions("Fetch", "7+")
def test_fetch_with_epoch_0_creates_session(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A full answer with a session id, which the next fetch may use."""
    topic = kept.topic(broker, _one_record_each)
    with (
        fetch_session(broker, api_version, [_at_the_end(topic, api_version)]) as session,
        requirement("FETCH-027"),
    ):
        assert session.id > 0, f"session id {session.id}"
        named = _named(session.opening)
        assert named == [0, 1], f"the opening answer names partitions {named}"
        expect_error(session.ask().error_code, ErrorCode.NONE, "first use of the session")


@judges("FETCH-028")
@at_versions("Fetch", "7+")
def test_incremental_fetch_returns_only_changed_partitions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Idle: no partition. After an append to one of two: that one, with its record."""
    topic = _one_record_each(broker)
    with (
        fetch_session(broker, api_version, [_at_the_end(topic, api_version)]) as session,
        requirement("FETCH-028"),
    ):
        idle = session.ask()
        expect_error(idle.error_code, ErrorCode.NONE)
        assert _named(idle) == [], f"an idle incremental fetch names partitions {_named(idle)}"
        append(broker, topic, batch_of(b"new"), partition=1)
        changed = session.ask()
        expect_error(changed.error_code, ErrorCode.NONE)
        assert _named(changed) == [1], f"partition 1 has changed, named are {_named(changed)}"
        assert only(only(changed.responses, "topic").partitions, "partition").records


@judges("FETCH-030")
@at_versions("Fetch", "7+")
def test_unknown_session_id_returns_fetch_session_id_not_found(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An id that the broker never assigned returns FETCH_SESSION_ID_NOT_FOUND, and no data."""
    request = fetch_request([])
    request.session_id, request.session_epoch = broker.random.randint(2**30, INT32_MAX), 1
    with requirement("FETCH-030"):
        response = broker.ask(request, api_version)
        expect_error(response.error_code, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        assert response.responses == []


@judges("FETCH-030")
@at_versions("Fetch", "7+")
def test_wrong_session_epoch_returns_invalid_fetch_session_epoch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An epoch that is not the next one: INVALID_FETCH_SESSION_EPOCH, and nothing else."""
    topic = kept.topic(broker, _one_record_each)
    with (
        fetch_session(broker, api_version, [_at_the_end(topic, api_version)]) as session,
        requirement("FETCH-030"),
    ):
        response = session.ask_at(session.next_epoch + 4)
        expect_error(response.error_code, ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        assert response.responses == []


@judges("FETCH-031")
@at_versions("Fetch", "7+")
def test_forgotten_partition_is_no_longer_fetched(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One of two is forgotten: of two appends only the other one is seen."""
    topic = _one_record_each(broker)
    with (
        fetch_session(broker, api_version, [_at_the_end(topic, api_version)]) as session,
        requirement("FETCH-031"),
    ):
        answer = session.ask(forgotten=[forget(topic, api_version, 0)])
        expect_error(answer.error_code, ErrorCode.NONE)
        for partition in range(2):
            append(broker, topic, batch_of(b"new"), partition=partition)
        named = _named(session.ask())
        assert named == [1], f"partition 0 is forgotten, named are {named}"


@judges("FETCH-031")
@at_versions("Fetch", "7+")
def test_forgetting_last_partitions_ends_session(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The answer carries session id 0, and the old id is not known any more."""
    topic = kept.topic(broker, _one_record_each)
    with (
        fetch_session(broker, api_version, [_at_the_end(topic, api_version)]) as session,
        requirement("FETCH-031"),
    ):
        answer = session.ask(forgotten=[forget(topic, api_version, 0, 1)])
        expect_error(answer.error_code, ErrorCode.NONE)
        told = f"session id {answer.session_id} though every partition is forgotten"
        assert answer.session_id == 0, told
        expect_error(session.ask().error_code, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)


@judges("FETCH-033")
@at_versions("Fetch", "7+")
def test_fetch_with_epoch_minus_1_closes_session(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """After it, the id is not known any more; another session stays."""
    topic = kept.topic(broker, _one_record_each)
    opened = [_at_the_end(topic, api_version)]
    with (
        fetch_session(broker, api_version, opened) as other,
        fetch_session(broker, api_version, opened) as session,
        requirement("FETCH-033"),
    ):
        closing = session.close()
        expect_error(closing.error_code, ErrorCode.NONE, "the closing fetch")
        assert closing.session_id == 0, f"session id {closing.session_id} in the closing answer"
        after = session.ask().error_code
        expect_error(after, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, "used after its close")
        expect_error(other.ask().error_code, ErrorCode.NONE, "the session beside it")


@judges("FETCH-060")
@at_versions("Fetch", "7-12", "13+")
def test_session_goes_on_after_its_connection_was_closed(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Opened on a connection that the client closes, and used on three others, each closed too."""
    topic = kept.topic(broker, log_of_nine)
    opened = entry_of(topic, api_version, {0: 6, 1: 0})
    with fetch_session(broker, api_version, [opened]) as session:
        broker.hang_up()
        for epoch in range(1, 4):
            connection = broker.connect("FETCH-060")
            with requirement("FETCH-060"):
                answer = connection.ask(session.next_request(), api_version)
                expect_error(answer.error_code, ErrorCode.NONE, f"epoch {epoch}, a new connection")
                found = {data.partition_index: values_of(data) for data in partitions_of(answer)}
                told = f"epoch {epoch}, a new connection: partitions and values are {found}"
                assert found == {0: VALUES[6:]}, told
            connection.close()

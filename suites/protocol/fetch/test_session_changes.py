"""FETCH: sessions with partitions that change, fail or go away (KIP-227, KIP-516)."""

from __future__ import annotations

from collections.abc import Iterable

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import FETCH_BY_ID, Topic, fetch_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, topic_with_batches
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import CREATE_EPOCH, FetchSessionClient, fetch_session
from suites.protocol.support.fetching import entry_of, partition_of, partitions_of, records_of
from suites.protocol.support.gone_topics import create_again, delete_topic
from suites.protocol.support.kept_topics import KeptTopics

VALUES = [b"first", b"second", b"third"]


def _three_partitions(broker: BrokerUnderTest) -> Topic:
    """Each holds VALUES, a batch for each of them."""
    return topic_with_batches(broker, 3, *(batch_of(value) for value in VALUES))


def _errors(response: FetchResponse) -> list[str]:
    """The error of every partition that the answer names."""
    named = partitions_of(response)
    return [ErrorCode.describe(p.error_code) for p in named]


# -- partitions in error ---------------------------------------------------------------------------


def _expect_until_resolved(
    failing: Iterable[FetchResponse], expected: ErrorCode, after: Iterable[FetchResponse]
) -> None:
    """One partition alone, with its error in each answer; then once without, then none."""
    for position, response in enumerate(failing):
        found = _errors(response)
        told = f"answer {position} in error names {found}, expected {expected.name}"
        assert found == [ErrorCode.describe(expected)], told
    then = [_errors(response) for response in after]
    told = f"the answers after the error was resolved name {then}, expected once NONE"
    assert then == [[ErrorCode.describe(ErrorCode.NONE)], []], told


@judges("FETCH-029")
@at_versions("Fetch", "7+")
def test_session_returns_offset_out_of_range_until_offset_is_in_range(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Read behind the log's end; then appends make it the log's end. Another partition is idle."""
    topic = broker.create_topic(partitions=2)
    append(broker, topic, batch_of(b"zero"))
    with (
        fetch_session(broker, api_version, [entry_of(topic, api_version, {0: 3, 1: 0})]) as session,
        requirement("FETCH-029"),
    ):
        failing = [session.ask(), session.ask()]
        append(broker, topic, batch_of(b"one", b"two"))
        after = [session.ask(), session.ask()]
        _expect_until_resolved(failing, ErrorCode.OFFSET_OUT_OF_RANGE, after)


@judges("FETCH-029")
@at_versions("Fetch", "7-12")
def test_session_returns_unknown_topic_or_partition_until_topic_is_created(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A name that no topic has yet; from version 13 a topic that is not there has no id to ask."""
    unknown = Topic(broker.unique_topic())
    with (
        fetch_session(broker, api_version, [entry_of(unknown, api_version, {0: 0})]) as session,
        requirement("FETCH-029"),
    ):
        failing = [session.ask(), session.ask()]
        broker.create_topic(name=unknown.name)
        after = [session.ask(), session.ask()]
        _expect_until_resolved(failing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, after)


@judges("FETCH-029")
@at_versions("Fetch", "7+")
def test_session_returns_partition_after_error_although_its_log_is_unchanged(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Read at the log's end, twice behind it, and at its end again."""
    topic = kept.topic(broker, _three_partitions)
    end, behind = (entry_of(topic, api_version, {0: at}) for at in (3, 9))
    with (
        fetch_session(broker, api_version, [end]) as session,
        requirement("FETCH-029"),
    ):
        failing = [session.ask([behind]), session.ask()]
        after = [session.ask([end]), session.ask()]
        _expect_until_resolved(failing, ErrorCode.OFFSET_OUT_OF_RANGE, after)


# -- changed partitions ----------------------------------------------------------------------------


@judges("FETCH-032")
@at_versions("Fetch", "7+")
def test_session_partition_that_is_not_resent_keeps_fetch_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One of two partitions gets a new offset, then a third comes in: the others stay."""
    topic = kept.topic(broker, _three_partitions)
    opened = entry_of(topic, api_version, {0: 0, 1: 1})
    changes: list[tuple[str, dict[int, int], dict[int, int]]] = [
        ("partition 0 moved to 2", {0: 2}, {0: 2, 1: 1}),
        ("partition 2 added at 1", {2: 1}, {0: 2, 1: 1, 2: 1}),
        ("nothing sent", {}, {0: 2, 1: 1, 2: 1}),
    ]
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-032"):
        for what, sent, expected in changes:
            response = session.ask([entry_of(topic, api_version, sent)] if sent else [])
            expect_error(response.error_code, ErrorCode.NONE, what)
            named = [p for t in response.responses for p in t.partitions]
            found = {p.partition_index: [at for at, _ in records_of(p)] for p in named}
            whole = {index: list(range(at, len(VALUES))) for index, at in expected.items()}
            assert found == whole, f"{what}: offsets {found} came, expected {whole}"


@judges("FETCH-056")
@at_versions("Fetch", "7+")
def test_session_returns_added_partition_once_although_nothing_is_there(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An empty log, and the end of one with records; the next answer names neither."""
    topic = broker.create_topic(partitions=3)
    append(broker, topic, batch_of(b"one"), partition=2)
    added = entry_of(topic, api_version, {1: 0, 2: 1})
    with (
        fetch_session(broker, api_version, [entry_of(topic, api_version, {0: 0})]) as session,
        requirement("FETCH-056"),
    ):
        found = [
            [(p.partition_index, p.high_watermark) for p in partitions_of(session.ask(sent))]
            for sent in ([added], [])
        ]
        told = f"added: (partition, high watermark) are {found}"
        assert found == [[(1, 0), (2, 1)], []], f"{told}, expected them once"


# -- topics by name and by id ----------------------------------------------------------------------


@judges("FETCH-035")
@at_versions("Fetch", "7+")
def test_names_and_ids_in_one_session_return_fetch_session_topic_id_error(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Opened at a version with names and used at one with ids, or the other way round."""
    other = broker.version("Fetch", "7-12" if api_version >= FETCH_BY_ID else "13+")
    topic = kept.topic(broker, _three_partitions)
    opened, asked = (entry_of(topic, version, {0: 0}) for version in (other, api_version))
    with fetch_session(broker, other, [opened]) as session, requirement("FETCH-035"):
        response = broker.ask(session.next_request([asked]), api_version)
        where = f"version {api_version} in a session of version {other}"
        expect_error(response.error_code, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, where)
        assert response.responses == [], f"{where}: partitions beside the error"


@judges("FETCH-036")
@at_versions("Fetch", "13+")
def test_session_of_recreated_topic_returns_topic_id_error_without_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The topic of an open session is deleted; one of the same name holds other records."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"old"))
    opened = entry_of(topic, api_version, {0: 0})
    refusals = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.INCONSISTENT_TOPIC_ID)
    with fetch_session(broker, api_version, [opened]) as session:
        delete_topic(broker, topic)
        append(broker, create_again(broker, topic.name), batch_of(b"new"))
        with requirement("FETCH-036"):
            for _ in range(2):
                data = partition_of(session.ask())
                assert data.error_code in refusals, (
                    f"the topic is another one: error is {ErrorCode.describe(data.error_code)}, "
                    "expected UNKNOWN_TOPIC_ID or INCONSISTENT_TOPIC_ID"
                )
                assert not record_bytes(data), f"{len(record_bytes(data))} bytes beside the error"


@judges("FETCH-057")
@at_versions("Fetch", "7-12")
def test_session_by_names_goes_on_with_recreated_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The deleted topic is an error; the one of its name has another record at the same offset."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"old"))
    opened = entry_of(topic, api_version, {0: 0})
    with fetch_session(broker, api_version, [opened]) as session:
        delete_topic(broker, topic)
        with requirement("FETCH-057"):
            gone = partition_of(session.ask())
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            expect_error(gone.error_code, unknown, "the topic of the session is deleted")
        append(broker, create_again(broker, topic.name), batch_of(b"made again"))
        with requirement("FETCH-057"):
            data = partition_of(session.ask())
            expect_error(data.error_code, ErrorCode.NONE, "a topic of its name is there")
            found = records_of(data)
            assert found == [(0, b"made again")], f"the records of the session are {found}"


# -- changes without records -----------------------------------------------------------------------


@judges("FETCH-028")
@at_versions("Fetch", "7+")
def test_session_returns_partition_whose_log_start_has_moved(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Both partitions are read at their end; records of one are deleted: that one, and once."""
    topic = _three_partitions(broker)
    opened = entry_of(topic, api_version, {0: len(VALUES), 1: len(VALUES)})
    with fetch_session(broker, api_version, [opened]) as session:
        for start in (1, len(VALUES)):
            delete_records(broker, topic, start, partition=1)
            with requirement("FETCH-028"):
                named = [p for t in session.ask().responses for p in t.partitions]
                found = [(p.partition_index, p.log_start_offset) for p in named]
                told = f"partition 1 starts at {start} now: (partition, log start) is {found}"
                assert found == [(1, start)], told
                idle = _errors(session.ask())
                assert idle == [], (
                    f"nothing has changed since, the answer has {len(idle)} partitions"
                )


# -- a session in the place of another -------------------------------------------------------------


@judges("FETCH-047")
@at_versions("Fetch", "7+")
def test_fetch_with_epoch_0_closes_session_that_it_names(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of two sessions one is named: it is gone; the other one and the new one are served."""
    opened = [entry_of(kept.topic(broker, _three_partitions), api_version, {0: 0, 1: 1})]
    request = fetch_request(opened)
    with (
        fetch_session(broker, api_version, opened) as named,
        fetch_session(broker, api_version, opened) as other,
    ):
        request.session_id, request.session_epoch = named.id, CREATE_EPOCH
        with requirement("FETCH-047"):
            answer = broker.ask(request, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "epoch 0 with a session id")
            new = FetchSessionClient(broker, api_version, answer.session_id, answer)
            told = f"sessions {named.id} and {other.id} are open, the new one is {new.id}"
            assert new.id not in (named.id, other.id), told
            gone = named.ask().error_code
            expect_error(gone, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, "the session that was named")
            expect_error(other.ask().error_code, ErrorCode.NONE, "the session beside it")
            if new.id:
                expect_error(new.ask().error_code, ErrorCode.NONE, "the new session")
                new.close()

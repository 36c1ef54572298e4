"""FETCH: requests that change a session, requests that are refused, and what they must leave."""

from __future__ import annotations

from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest
from harness.client.requests import FETCH_BY_ID, Topic, fetch_partition, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, topic_with_batches
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import FetchSessionClient, fetch_session, forget
from suites.protocol.support.fetching import entry_of, partitions_of, records_of
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch

PARTITIONS, END = 4, 3
NO_EPOCH = -1
FIRST_WITH_FETCHED_EPOCH = 12
UNKNOWN_EPOCH = ErrorCode.UNKNOWN_LEADER_EPOCH


def _three_records_each(broker: BrokerUnderTest) -> Topic:
    """A batch for each record."""
    batches = [batch_of(b"record %d" % number) for number in range(END)]
    return topic_with_batches(broker, PARTITIONS, *batches)


def _offsets(response: FetchResponse) -> dict[int, list[int]]:
    """The offsets of the records of each partition that the answer names."""
    named = partitions_of(response)
    return {data.partition_index: [offset for offset, _ in records_of(data)] for data in named}


def _expect_from(session: FetchSessionClient, begins: Mapping[int, int], when: str) -> None:
    """The next answer has these partitions, each from this offset to its end."""
    response = session.ask()
    expect_error(response.error_code, ErrorCode.NONE, when)
    expected = {index: list(range(begin, END)) for index, begin in begins.items()}
    found = _offsets(response)
    assert found == expected, f"{when}: offsets {found} came, expected {expected}"


# -- refused requests ------------------------------------------------------------------------------


@judges("FETCH-049")
@at_versions("Fetch", "7+")
def test_fetch_with_wrong_session_epoch_changes_no_partition_of_session(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The refused requests move partition 0, forget 1 and add 2, an epoch too early or too late."""
    topic = kept.topic(broker, _three_records_each)
    opened = entry_of(topic, api_version, {0: 0, 1: 1})
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-049") as check:
        _expect_from(session, {0: 0, 1: 1}, "before the refusal")
        for distance in (-1, 1):
            request = session.next_request([entry_of(topic, api_version, {0: 2, 2: 0})])
            session.next_epoch -= 1
            request.session_epoch += distance
            request.forgotten_topics_data = [forget(topic, api_version, 1)]
            shown = f"the next epoch with {distance:+}"
            with check.subtest(shown):
                code = broker.ask(request, api_version).error_code
                expect_error(code, ErrorCode.INVALID_FETCH_SESSION_EPOCH, shown)
                _expect_from(session, {0: 0, 1: 1}, f"after {shown}")


@judges("FETCH-049")
@at_versions("Fetch", "7+")
def test_fetch_with_other_topic_form_changes_nothing_of_session(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The refused request is at a version with ids where the session has names, or the reverse."""
    other = broker.version("Fetch", "7-12" if api_version >= FETCH_BY_ID else "13+")
    topic = kept.topic(broker, _three_records_each)
    opened = entry_of(topic, api_version, {0: 0, 1: 1})
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-049"):
        request = session.next_request([entry_of(topic, other, {0: 2})])
        session.next_epoch -= 1
        code = broker.ask(request, other).error_code
        where = f"version {other} in a session of version {api_version}"
        expect_error(code, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, where)
        _expect_from(session, {0: 0, 1: 1}, f"after {where}, at the same epoch")


@judges("FETCH-030")
@at_versions("Fetch", "7+")
def test_wrong_session_epoch_precedes_other_topic_form(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Both are wrong, the epoch and the version: INVALID_FETCH_SESSION_EPOCH."""
    other = broker.version("Fetch", "7-12" if api_version >= FETCH_BY_ID else "13+")
    topic = kept.topic(broker, _three_records_each)
    opened = entry_of(topic, other, {0: 0})
    with fetch_session(broker, other, [opened]) as session, requirement("FETCH-030"):
        request = session.next_request([entry_of(topic, api_version, {0: 0})])
        request.session_epoch += 1
        code = broker.ask(request, api_version).error_code
        where = f"wrong epoch at version {api_version} in a session of version {other}"
        expect_error(code, ErrorCode.INVALID_FETCH_SESSION_EPOCH, where)


# -- changed partitions ----------------------------------------------------------------------------


@judges("FETCH-056")
@at_versions("Fetch", "7+")
def test_session_returns_partition_that_is_added_again_although_its_log_is_unchanged(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Partitions 1 and 2 have nothing new; 1 is forgotten and comes back, 3 comes for the first
    time: each is in the next answer, without records, and in none after it."""
    topic = kept.topic(broker, _three_records_each)
    opened = entry_of(topic, api_version, {1: END, 2: END})
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-056") as check:
        forgotten = [forget(topic, api_version, 1)]
        told = [_offsets(session.ask(forgotten=forgotten)), _offsets(session.ask())]
        assert told == [{}, {}], f"the answers without partition 1 name {told}, expected none"
        for added, when in ((1, "forgotten and added again"), (3, "added")):
            with check.subtest(when):
                first = session.ask([entry_of(topic, api_version, {added: END})])
                expect_error(first.error_code, ErrorCode.NONE, when)
                told = [_offsets(first), _offsets(session.ask())]
                where = f"partition {added} {when}: the answers name {told}"
                assert told == [{added: []}, {}], f"{where}, expected it once, without records"


def _claiming(
    topic: Topic, version: int, offset: int, *, current: int = NO_EPOCH, fetched: int = NO_EPOCH
) -> FetchRequest.FetchTopic:
    """Partition 0 from the offset, with the epochs that a client claims."""
    wanted = fetch_partition(offset)
    wanted.current_leader_epoch, wanted.last_fetched_epoch = current, fetched
    return fetch_topic(topic, version, [wanted])


@judges("FETCH-050")
@at_versions("Fetch", "9+")
def test_session_keeps_last_current_leader_epoch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Without an epoch, then with a newer one than the leader's, then with the leader's own."""
    topic = kept.topic(broker, _three_records_each)
    epoch = told_leader_epoch(broker, topic)
    opened = _claiming(topic, api_version, 0)
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-050") as check:
        for claimed, expected in (
            (epoch + 1, UNKNOWN_EPOCH), (epoch, ErrorCode.NONE), (epoch + 2, UNKNOWN_EPOCH)
        ):  # fmt: skip
            sent = [_claiming(topic, api_version, 0, current=claimed)]
            shown = f"epoch {claimed}, the leader's is {epoch}"
            with check.subtest(shown):
                answers = {"sent": session.ask(sent), "not sent again": session.ask()}
                found = {what: _codes(answer) for what, answer in answers.items()}
                wanted = {what: [ErrorCode.describe(expected)] for what in answers}
                assert found == wanted, f"{shown}: errors are {found}, not {wanted}"


def _codes(response: FetchResponse) -> list[str]:
    named = partitions_of(response)
    return [ErrorCode.describe(data.error_code) for data in named]


def _diverging(response: FetchResponse) -> list[tuple[int, int]]:
    """The diverging epoch of each partition that the answer names, with its end."""
    named = partitions_of(response)
    return [(data.diverging_epoch.epoch, data.diverging_epoch.end_offset) for data in named]


@judges("FETCH-050")
@at_versions("Fetch", "12+")
def test_session_keeps_last_fetched_epoch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """With the epoch of its last record a client diverges behind the log's end, in each answer.

    Then it reads from the log's last offset on, with that epoch and without one.
    """
    topic = kept.topic(broker, _three_records_each)
    epoch = told_leader_epoch(broker, topic)
    opened = _claiming(topic, api_version, END)
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-050") as check:
        ahead = [_claiming(topic, api_version, END + 1, fetched=epoch)]
        found = [_diverging(session.ask(ahead)), _diverging(session.ask())]
        assert found == [[(epoch, END)]] * 2, (
            f"behind the end of epoch {epoch}, sent and not sent again: the diverging epochs are "
            f"{found}"
        )
        for claimed in (epoch, NO_EPOCH):
            within = [_claiming(topic, api_version, END - 1, fetched=claimed)]
            with check.subtest(f"last fetched epoch {claimed}"):
                offsets = [_offsets(session.ask(within)), _offsets(session.ask())]
                assert offsets == [{0: [END - 1]}] * 2, (
                    f"last fetched epoch {claimed}: offsets {offsets} came"
                )


@judges("FETCH-051")
@at_versions("Fetch", "7+")
def test_partition_that_one_request_names_and_forgets_leaves_session(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Partition 0 is in the session, 2 is not; both are named and forgotten; 1 stays."""
    topic = kept.topic(broker, _three_records_each)
    opened = entry_of(topic, api_version, {0: 0, 1: 1})
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-051"):
        named = entry_of(topic, api_version, {0: 1, 2: 0})
        answer = session.ask([named], [forget(topic, api_version, 0, 2)])
        expect_error(answer.error_code, ErrorCode.NONE, "named and forgotten")
        found = _offsets(answer)
        assert found == {1: [1, 2]}, f"0 and 2 are named and forgotten: offsets {found} came"
        _expect_from(session, {1: 1}, "after the request that names and forgets")


# -- idle partitions -------------------------------------------------------------------------------


@judges("FETCH-028")
@at_versions("Fetch", "7+")
def test_session_leaves_out_idle_partition_that_is_sent_again(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two partitions at their end; one is sent again, as it was and with another limit."""
    topic = kept.topic(broker, _three_records_each)
    opened = entry_of(topic, api_version, {0: END, 1: END})
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-028") as check:
        for limit_bytes in (1 << 20, 1 << 10):
            wanted = fetch_partition(END, partition=1, partition_max_bytes=limit_bytes)
            with check.subtest(f"partition_max_bytes {limit_bytes}"):
                answer = session.ask([fetch_topic(topic, api_version, [wanted])])
                expect_error(answer.error_code, ErrorCode.NONE)
                found = sorted(_offsets(answer))
                assert found == [], f"nothing has changed, the answer has partitions {found}"


@judges("FETCH-028")
@at_versions("Fetch", "7+")
def test_session_returns_partition_whose_high_watermark_alone_has_changed(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Both partitions get a record, max_bytes is for one: the other has its high watermark."""
    topic = _three_records_each(broker)
    opened = entry_of(topic, api_version, {0: END, 1: END})
    with fetch_session(broker, api_version, [opened]) as session:
        for partition in range(2):
            append(broker, topic, batch_of(b"later"), partition=partition)
        request = session.next_request()
        request.max_bytes = 1
        with requirement("FETCH-028"):
            answer = broker.ask(request, api_version)
            named = [data for one in answer.responses for data in one.partitions]
            found = {p.partition_index: (len(records_of(p)), p.high_watermark) for p in named}
            expected = {0: (1, END + 1), 1: (0, END + 1)}
            told = f"records and high watermarks are {found}, expected {expected}"
            assert found == expected, told


# -- entries of several topics ---------------------------------------------------------------------


def _by_topic(response: FetchResponse) -> dict[tuple[str, int], list[int]]:
    """The offsets of the records of each partition, by the topic as the answer names it."""
    return {
        (topic.topic or str(topic.topic_id), data.partition_index): [
            offset for offset, _ in records_of(data)
        ]
        for topic in response.responses
        for data in topic.partitions
    }


@judges("FETCH-031")
@at_versions("Fetch", "7+")
def test_one_request_forgets_partitions_of_two_topics(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of two topics with two partitions each, one partition each is forgotten."""
    topics = [kept.topic(broker, _three_records_each), broker.create_topic(partitions=2)]
    append(broker, topics[1], batch_of(b"other"), partition=1)
    opened = [entry_of(topic, api_version, {0: 0, 1: 0}) for topic in topics]
    with fetch_session(broker, api_version, opened) as session, requirement("FETCH-031"):
        gone = [forget(topics[0], api_version, 1), forget(topics[1], api_version, 0)]
        expect_error(session.ask(forgotten=gone).error_code, ErrorCode.NONE, "the change")
        append(broker, topics[1], batch_of(b"forgotten"), partition=0)
        names = [str(one.id) if api_version >= FETCH_BY_ID else one.name for one in topics]
        expected = {(names[0], 0): list(range(END)), (names[1], 1): [0]}
        found = _by_topic(session.ask())
        assert found == expected, f"offsets {found} came, expected {expected}"

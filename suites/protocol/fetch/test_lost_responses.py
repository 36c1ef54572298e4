"""FETCH: lost responses, fetches that are cut, clients that go away.

And the debugging consumer.
"""

from __future__ import annotations

import time

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.client.requests import (
    READ_MIN_BYTES,
    READ_WAIT_MS,
    fetch_partition,
    fetch_request,
    fetch_topic,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.runner.faults import Faults, responses
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.cut_requests import cuts, send_cut
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import CREATE_EPOCH, fetch_session
from suites.protocol.support.fetch_waits import await_waiting
from suites.protocol.support.fetching import VALUES, entry_of, log_of_nine, partition_of, values_of
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.lost_answers import lose_the_answer

PATIENCE_MS = 3000  # a max_wait_ms too long to be taken for an immediate response
CUT, GONE = "FETCH-030", "FETCH-007 gone"
DEBUG_REPLICA = -2
IN_REPLICA_STATE = 15  # KIP-903: from this version on the replica id is a tagged field


@judges("FETCH-030")
@at_versions("Fetch", "7-12", "13+")
def test_session_epoch_of_lost_response_is_refused_and_next_epoch_served(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """The answer of an incremental fetch is lost: its epoch is used up, the next one goes on on
    another connection; nothing that was appended meanwhile is missing.
    """
    topic = broker.create_topic()
    wanted = [fetch_topic(topic, api_version, [fetch_partition(0)])]
    with fetch_session(broker, api_version, wanted) as session:
        append(broker, topic, batch_of(b"while lost"))
        with faults.path(responses("Fetch").first().close()) as path:
            lost = session.next_request()
            with pytest.raises(ConnectionClosed):
                broker.connect(through=path.address).ask(lost, api_version)
            path.expect_fired()
            with requirement("FETCH-030"):
                again = broker.connect(through=path.address).ask(lost, api_version)
                expect_error(again.error_code, ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                             "the epoch whose answer was lost")  # fmt: skip
                answer = session.ask(wanted)
                expect_error(answer.error_code, ErrorCode.NONE, "the next epoch")
                assert values_of(partition_of(answer)) == [b"while lost"]


@judges("FETCH-030")
@at_versions("Fetch", "7-12", "13+")
def test_cut_incremental_fetch_does_not_consume_session_epoch(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """An incremental fetch is cut, here and there, then comes whole at the same epoch."""
    topic = broker.create_topic()
    wanted = [fetch_topic(topic, api_version, [fetch_partition(0)])]
    with fetch_session(broker, api_version, wanted) as session:
        append(broker, topic, batch_of(b"not yet fetched"))
        request = session.next_request(wanted)
        with requirement("FETCH-030"), faults.path() as path:
            send_cut(broker, path, request, api_version, CUT, cuts(request, api_version, CUT))
            answer = broker.connect(CUT, through=path.address).ask(request, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "whole at last")
            assert values_of(partition_of(answer)) == [b"not yet fetched"]


@judges("FETCH-030")
@at_versions("Fetch", "7-12", "13+")
def test_session_continues_while_fetch_of_reset_connection_waits(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A session continues while a fetch of it waits on a connection that was reset.

    The waiting fetch, or a retry of it that came first, has used up its epoch. The broker serves
    the next epoch immediately, and the epoch after it returns the appended records.
    """
    topic = broker.create_topic()
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [fetch_topic(topic, api_version, [fetch_partition(0)])]
    with fetch_session(broker, api_version, wanted) as session:
        waiting = broker.connect()
        lost = session.next_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
        waiting.send(lost, api_version)
        await_waiting(broker, waiting)
        waiting.reset()
        lost.max_wait_ms, lost.min_bytes = READ_WAIT_MS, READ_MIN_BYTES
        with requirement("FETCH-030"):
            with in_time(wait_ms / 2):
                started = time.monotonic()
                again = broker.ask(lost, api_version)
                following = session.ask()
                took_ms = (time.monotonic() - started) * 1000
                assert took_ms < wait_ms / 2, (
                    f"answered after {took_ms:.0f} ms, a fetch that waits for nobody has {wait_ms}"
                )
            if again.error_code != ErrorCode.NONE:
                expect_error(again.error_code, ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                             "the epoch of the fetch that waits")  # fmt: skip
            expect_error(following.error_code, ErrorCode.NONE, "the next epoch")
            append(broker, topic, batch_of(b"while nobody waited"))
            answer = session.ask(wanted)
            expect_error(answer.error_code, ErrorCode.NONE, "the epoch behind it")
            assert values_of(partition_of(answer)) == [b"while nobody waited"]


@judges("FETCH-027")
@at_versions("Fetch", "7-12", "13+")
def test_fetch_with_epoch_0_after_lost_response_returns_all_partitions(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """As consumers do: epoch 0 with the old id. The answer is full, what was lost and the idle
    partition in it, and its session can be used (KIP-227).
    """
    topic = broker.create_topic(partitions=2)
    wanted = [entry_of(topic, api_version, {0: 0, 1: 0})]
    with fetch_session(broker, api_version, wanted) as session:
        append(broker, topic, batch_of(b"while lost"))
        lose_the_answer(broker, faults, session.next_request(), api_version)
        with requirement("FETCH-027"):
            anew = fetch_request(wanted)
            anew.session_id, anew.session_epoch = session.id, CREATE_EPOCH
            answer = broker.ask(anew, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "epoch 0 of the old session")
            named = sorted(p.partition_index for t in answer.responses for p in t.partitions)
            assert named == [0, 1], f"the answer that begins anew names partitions {named}"
            assert values_of(partition_of(answer)) == [b"while lost"]
            session.id, session.next_epoch = answer.session_id, 1
            if answer.session_id:
                expect_error(session.ask().error_code, ErrorCode.NONE, "the new session")


@judges("FETCH-007")
@at_versions("Fetch", "0-3", "4+")
def test_append_completes_fetch_after_other_waiting_clients_disconnect(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three fetches wait and their clients go, one by a reset; a fourth stays: an append ends its
    wait all the same, well before max_wait_ms.
    """
    topic = broker.create_topic()
    wait_ms = int(broker.scaled_ms(2 * PATIENCE_MS))
    request = fetch_request(
        [entry_of(topic, api_version, {0: 0})], max_wait_ms=wait_ms, min_bytes=1
    )
    going = [broker.connect(GONE) for _ in range(3)]
    staying = broker.connect("FETCH-007")
    for connection in going:
        connection.send(request, api_version)
    await_waiting(broker, *going)
    with requirement("FETCH-007"):
        with in_time(0.45 * wait_ms):
            started = time.monotonic()
            staying.send(request, api_version)
            await_waiting(broker, staying)
            going[0].reset()
            for connection in going[1:]:
                connection.close()
            append(broker, topic, batch_of(b"for who stays"))
            answer = staying.receive()
            took_ms = (time.monotonic() - started) * 1000
            told = f"answered after {took_ms:.0f} ms, max_wait_ms is {wait_ms}"
            assert took_ms < 0.45 * wait_ms, told
        assert isinstance(answer, FetchResponse)
        values = values_of(partition_of(answer))
        assert values == [b"for who stays"], f"{told}, with {values}"


@judges("FETCH-020")
@at_versions("Fetch", "0-3", "4-12", "13-14", "15+")
def test_fetch_with_debug_replica_id_returns_records(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A fetch with replica id -2 of nine records that all replicas have."""
    topic = kept.topic(broker, log_of_nine)
    request = fetch_request([entry_of(topic, api_version, {0: 0})])
    if api_version >= IN_REPLICA_STATE:
        request.replica_state.replica_id = DEBUG_REPLICA
    else:
        request.replica_id = DEBUG_REPLICA
    with requirement("FETCH-020"):
        data = partition_of(broker.ask(request, api_version))
        expect_error(data.error_code, ErrorCode.NONE, "replica id -2")
        assert values_of(data) == VALUES

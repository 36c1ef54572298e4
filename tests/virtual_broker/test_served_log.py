"""The log of a virtual leader and its endpoint, asked by hand as a follower."""

from __future__ import annotations

import threading
from uuid import UUID

import pytest

from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, MetadataRequest
from harness.virtual_broker.leader_endpoint import LeaderEndpoint, ReceivedRequest
from harness.virtual_broker.partition import offsets_in, replica_fetch
from harness.virtual_broker.served_log import ServedLog
from labs.hang_limit import HANGS_AFTER_S
from tests.leftovers import running_threads

TOPIC, OTHER = Topic("t", UUID(int=7)), Topic("u", UUID(int=8))
FOLLOWER = 1
LONG_MS = 100 * HANGS_AFTER_S * 1000  # the test would be over before


def log_of(*epochs: int) -> ServedLog:
    """Return a log with one record for each epoch."""
    log = ServedLog()
    for epoch in epochs:
        log.append(epoch, b"x")
    return log


@pytest.mark.parametrize(
    ("epoch", "end"), [(-1, (-1, -1)), (0, (0, 2)), (1, (0, 2)), (2, (2, 3)), (9, (2, 3))]
)
def test_epoch_end_is_that_of_largest_epoch_not_above(epoch: int, end: tuple[int, int]) -> None:
    assert log_of(0, 0, 2).end_of(epoch) == end


@pytest.mark.parametrize(
    ("offset", "last_epoch", "found"),
    [(3, 2, None), (2, 0, None), (0, -1, None), (3, 0, (0, 2)), (4, 2, (2, 3)), (3, 1, (0, 2))],
)
def test_diverging_epoch_is_found_for_offset_and_last_epoch(
    offset: int, last_epoch: int, found: tuple[int, int] | None
) -> None:
    assert log_of(0, 0, 2).diverges(offset, last_epoch) == found


def ask(connection: Connection, offset: int, *, topic: Topic = TOPIC, version: int = 17,
        last_epoch: int = -1, max_wait_ms: int = 0) -> FetchResponse.PartitionData:  # fmt: skip
    request = replica_fetch(
        topic, version, offset, replica=FOLLOWER, last_fetched_epoch=last_epoch,
        max_wait_ms=max_wait_ms, min_bytes=1,
    )  # fmt: skip
    return connection.ask(request, version).responses[0].partitions[0]


@pytest.mark.parametrize("version", [12, 13, 15, 18])
def test_follower_fetch_returns_records_from_offset_or_diverging_epoch(version: int) -> None:
    with LeaderEndpoint() as endpoint, Connection(endpoint.address) as connection:
        endpoint.serve(TOPIC, log_of(0, 0, 2))
        told = ask(connection, 1, version=version, last_epoch=0)
        assert offsets_in(bytes(told.records or b"")) == (1, 2)
        assert (told.high_watermark, told.diverging_epoch.epoch) == (3, -1)
        told = ask(connection, 4, version=version, last_epoch=2)
        assert not told.records
        assert (told.diverging_epoch.epoch, told.diverging_epoch.end_offset) == (2, 3)
        assert endpoint.asked == [ReceivedRequest(1, 0), ReceivedRequest(4, 2)]


def test_fetch_of_unserved_topic_returns_not_leader_or_follower() -> None:
    with LeaderEndpoint() as endpoint, Connection(endpoint.address) as connection:
        assert ask(connection, 0).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        endpoint.serve(TOPIC, log_of(0))
        assert ask(connection, 0, topic=OTHER).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert ask(connection, 0).error_code == ErrorCode.NONE
        endpoint.serve(TOPIC, None)
        assert ask(connection, 0).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_fetch_at_log_end_waits_for_new_records() -> None:
    with (
        LeaderEndpoint() as endpoint,
        Connection(endpoint.address, timeout_ms=HANGS_AFTER_S * 1000) as connection,
    ):
        endpoint.serve(TOPIC, log_of(0))
        later = threading.Timer(0.1, lambda: endpoint.serve(TOPIC, log_of(0, 0)))
        later.start()
        told = ask(connection, 1, last_epoch=0, max_wait_ms=LONG_MS)
        later.join()
        assert offsets_in(bytes(told.records or b"")) == (1,)


def test_other_request_closes_connection_and_close_ends_all_threads() -> None:
    before = running_threads()
    endpoint = LeaderEndpoint()
    address = endpoint.address
    with Connection(address) as waiting, Connection(address) as other:
        endpoint.serve(TOPIC, log_of(0))
        waiting.send(
            replica_fetch(TOPIC, 17, 1, replica=FOLLOWER, max_wait_ms=LONG_MS, min_bytes=1), 17
        )
        other.send(MetadataRequest(topics=[]), 1)
        other.expect_closed()
        endpoint.close()
        endpoint.close()
        assert running_threads() <= before
        with pytest.raises(BrokerMisbehaved):
            waiting.receive()
    with pytest.raises(BrokerMisbehaved):
        Connection(address)

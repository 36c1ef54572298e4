"""REPL: the ISR that a leader has proposed, before the controller commits it."""

from __future__ import annotations

from harness.base.pace import time_left
from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.replication.support.cutting import LAG_MS, controller_of, linked_cluster, plain_brokers

WAIT_MS = 2 * LAG_MS
"""The lag in ms after which a leader has certainly requested a smaller ISR."""
SESSION_MS = 30_000
"""Much longer, also on a busy machine: the leader cannot reach the controller meanwhile."""
COMMITTED = 3


@judges("REPL-016")
@linked_cluster(SESSION_MS)
def test_pending_isr_shrink_does_not_advance_high_watermark(cluster: Cluster) -> None:
    """The leader needs a smaller ISR and cannot reach the controller; then it can.

    It is written to all the time, so that each append would advance the high watermark.
    REPL-015 tests that a joining replica counts before it is in the ISR.
    """
    leader, follower, third = plain_brokers(cluster)
    topic = cluster.create_topic([[leader, follower, third]])
    client = cluster.at(leader)
    append(client, topic, *[batch_of(b"committed")] * COMMITTED)
    controller = controller_of(cluster)
    cluster.links[leader, controller].cut()
    cluster.links[follower, leader].cut()
    with requirement("REPL-016"):
        for _ in time_left(WAIT_MS):
            _write_alone(client, topic)
            data = client.fetch(topic, 0)
            expect_error(data.error_code, ErrorCode.NONE, "Fetch")
            told = f"the high watermark is {data.high_watermark}, {follower} has {COMMITTED}"
            assert data.high_watermark == COMMITTED, told
        isr = set(cluster.view(topic, by=third).isr)
        if isr != {leader, follower, third}:
            raise PreparationFailed(f"the ISR is {isr}, decided without its leader")
        cluster.links[leader, controller].heal()
        end = cluster.last_seen(
            lambda: _end_with_more(client, topic), lambda end: end > COMMITTED + 1
        )
        told = f"the controller is reached again, and only {end} are committed"
        assert end > COMMITTED + 1, told


def _end_with_more(client: BrokerUnderTest, topic: Topic) -> int:
    """Append one more record, and return the end of the committed log.

    Before 3.0 a smaller ISR alone advances no high watermark (KAFKA-13091).
    """
    _write_alone(client, topic)
    return client.end_offset(topic)


def _write_alone(client: BrokerUnderTest, topic: Topic) -> None:
    answer = client.produce(topic, batch_of(b"one more"), acks=1)
    expect_error(answer.error_code, ErrorCode.NONE, "Produce with acks=1")

"""REPL: followers that fetch in small pieces, or wait long for something new."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.requests import fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error

LONG_WAIT_MS = 8_000  # shorter than a test waits for an answer
RECORDS = 5
SILENCE_MS = 50


@judges("REPL-026")
@needs_broker(Use.CLUSTER, {"replica.fetch.max.bytes": "1024"})
def test_record_larger_than_replica_fetch_max_bytes_is_replicated(cluster: Cluster) -> None:
    """The first batch of a fetch comes whole: acks=all is answered, and the ISR stays."""
    topic = cluster.create_topic()
    client = cluster.leader_client(topic)
    value = cluster.front.random.randbytes(100_000)
    with requirement("REPL-026"):
        for _ in range(RECORDS):
            answer = client.produce(topic, batch_of(value), acks=-1)
            expect_error(answer.error_code, ErrorCode.NONE, "acks=all")
        assert cluster.isr(topic) == set(cluster.replicas(topic)), f"ISR {cluster.isr(topic)}"


@judges("REPL-024")
@needs_broker(
    Use.CLUSTER,
    {"replica.fetch.wait.max.ms": str(LONG_WAIT_MS), "replica.lag.time.max.ms": "60000"},
)
def test_new_records_end_follower_fetch_wait(cluster: Cluster) -> None:
    """Records with acks=all are acknowledged during a fetch with half of a follower's wait time.

    The fetch is of a topic that no client writes to. The preparation takes as long as a follower
    waits: followers fetch a new partition only when their wait for the older ones has ended.
    """
    quiet, topic = cluster.create_topic(), cluster.create_topic()
    client = cluster.leader_client(topic)
    version = client.reading_version(quiet)
    append(client, topic, batch_of(b"r"))
    waiting = cluster.leader_client(quiet).connect(timeout_ms=2 * LONG_WAIT_MS)
    request = fetch_request(
        [fetch_topic(quiet, version, [fetch_partition(0)])],
        max_wait_ms=LONG_WAIT_MS // 2,
        min_bytes=1,
    )
    with requirement("REPL-024"):
        waiting.send(request, version)
        for number in range(RECORDS):
            answer = client.produce(topic, batch_of(b"r"), acks=-1)
            expect_error(answer.error_code, ErrorCode.NONE, f"record {number}")
        waiting.expect_silence(for_ms=SILENCE_MS)  # or that fetch was answered first

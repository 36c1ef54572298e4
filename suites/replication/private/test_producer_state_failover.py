"""IDEM: what is known of producers outlives a broker."""

from __future__ import annotations

import itertools

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import expect_taken_again, new_producer
from suites.replication.support.failover import await_in_sync, bring_back, lose_leader

EACH = 5
GAP = 7  # a sequence that is too high
WITH_WINDOW = "5+"  # versions of Produce; since 1.0 brokers know more than the last batch
SIZES = (3, 1, 4, 2)  # records of batches: so few that a broker knows all of them (KAFKA-5494)


@judges("IDEM-002")
@needs_broker(Use.CLUSTER)
def test_producer_ids_are_not_reused_after_broker_kill(cluster: Cluster) -> None:
    """Each broker gives some, is killed and started again, and gives more."""
    seen: dict[int, str] = {}
    with requirement("IDEM-002"):
        for when in ("before", "after"):
            for node in cluster.nodes:
                if when == "after":
                    cluster.kill(node)
                    cluster.restart(node)
                    cluster.await_brokers(cluster.nodes)
                for _ in range(EACH):
                    made = new_producer(cluster.at(node)).id
                    assert made not in seen, f"{node} gives {made} again, as {seen[made]} did"
                    seen[made] = f"{node} {when} it was killed"


def _expect_known(
    cluster: Cluster, topic: Topic, batch: bytes, where: str, offset: int = 0
) -> None:
    """The batch that is there, at this offset, is not appended again."""
    client = cluster.leader_client(topic)
    end = client.end_offset(topic)
    answer = client.produce(topic, batch)
    expect_taken_again(answer.error_code, where)
    if answer.error_code == ErrorCode.NONE:
        assert answer.base_offset == offset, f"{where}: it is said to be at {answer.base_offset}"
    assert client.end_offset(topic) == end, f"{where}: it was appended again"


@judges("IDEM-012")
@needs_broker(Use.CLUSTER)
def test_duplicate_batch_is_not_appended_after_leader_change(cluster: Cluster) -> None:
    """It is sent again after the leader was killed, and after that one has restarted."""
    topic = cluster.create_topic()
    producer = new_producer(cluster.leader_client(topic))
    batch = producer.batch(0, b"first")
    append(cluster.leader_client(topic), topic, batch)
    with requirement("IDEM-012"):
        before, now = lose_leader(cluster, topic)
        _expect_known(cluster, topic, batch, f"{now} leads after {before}")
        answer = cluster.at(now).produce(topic, producer.batch(1, b"second"))
        expect_error(answer.error_code, ErrorCode.NONE, "the next batch")
        bring_back(cluster, topic, before)


@judges("IDEM-012")
@needs_broker(Use.CLUSTER)
def test_duplicate_batch_is_not_appended_after_leader_restart(cluster: Cluster) -> None:
    """Its only replica is stopped, and killed, and started again; it refuses a gap as before."""
    node = cluster.nodes[-1]
    topic = cluster.create_topic([[node]], {"min.insync.replicas": "1"})
    producer = new_producer(cluster.at(node))
    batch = producer.batch(0, b"first")
    append(cluster.at(node), topic, batch)
    with requirement("IDEM-012"):
        for end in (cluster.stop, cluster.kill):
            end(node)
            cluster.restart(node)
            await_in_sync(cluster, topic, node)
            _expect_known(cluster, topic, batch, "it has restarted")
            client = cluster.at(node)
            code = client.produce(topic, producer.batch(GAP, b"behind a gap")).error_code
            expect_error(code, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "it has restarted, a gap")
            assert client.end_offset(topic) == 1, "it has restarted: a gap is appended"
        answer = cluster.leader_client(topic).produce(topic, producer.batch(1, b"second"))
        expect_error(answer.error_code, ErrorCode.NONE, "the next batch")


@judges("IDEM-012")
@needs_broker(Use.CLUSTER)
def test_new_leader_knows_offset_sequence_and_epoch_of_each_batch(cluster: Cluster) -> None:
    """Batches of unlike sizes, each sent again to a leader that was a follower.

    A batch with a gap before it, and one of the former epoch, are refused there as ever.
    """
    topic = cluster.create_topic()
    client = cluster.leader_client(topic)
    client.version("Produce", WITH_WINDOW)
    former = new_producer(client)
    producer = former.at_epoch(former.epoch + 1)
    append(client, topic, former.batch(0, b"of the former epoch"))
    starts = list(itertools.accumulate(SIZES, initial=0))
    batches = [producer.batch(at, *[b"r"] * size) for at, size in zip(starts, SIZES, strict=False)]
    append(client, topic, *batches)
    with requirement("IDEM-012"):
        before, now = lose_leader(cluster, topic)
        for at, batch in zip(starts, batches, strict=False):
            _expect_known(cluster, topic, batch, f"{now} leads, sequence {at}", 1 + at)
        for batch, code, where in (
            (producer.batch(starts[-1] + 1, b"r"), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "a gap"),
            (former.batch(1, b"r"), ErrorCode.INVALID_PRODUCER_EPOCH, "the former epoch"),
            (producer.batch(starts[-1], b"r"), ErrorCode.NONE, "the next batch"),
        ):
            end = cluster.at(now).end_offset(topic)
            expect_error(cluster.at(now).produce(topic, batch).error_code, code, where)
            grown = cluster.at(now).end_offset(topic) - end
            assert grown == (code is ErrorCode.NONE), f"{where}: the log grew by {grown}"
        bring_back(cluster, topic, before)

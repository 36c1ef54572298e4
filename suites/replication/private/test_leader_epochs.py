"""EPOCH: leader epochs over changes of the leader (KIP-101, KIP-279, KIP-320)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of
from suites.protocol.support.record_formats import batches_in
from suites.replication.support.epochs import end_of, epoch_of, fetched_in
from suites.replication.support.failover import bring_back, change_leader, lose_leader
from suites.replication.support.reading import await_served_by, follower_version
from suites.replication.support.served import checked, served

EACH = 3  # records of an epoch
CHANGES = 2
ROUNDS = 3
AHEAD = 3
"""Largest rise of a leader epoch at once: with a ZooKeeper a smaller ISR raises it too."""


@dataclass(frozen=True, slots=True)
class EpochEnds:
    """A topic, and by epoch the offset behind its last record; the last is the current epoch."""

    topic: Topic
    ends: dict[int, int]

    @property
    def current(self) -> int:
        return max(self.ends)


def _written(cluster: Cluster, changes: int = CHANGES) -> EpochEnds:
    """Records in the first epoch, and in each after a change of the leader."""
    cluster.front.version("Metadata", "7+")
    topic = cluster.create_topic()
    ends: dict[int, int] = {}
    for number in range(changes + 1):
        if number:
            change_leader(cluster, topic)
        client = cluster.leader_client(topic)
        append(client, topic, batch_of(*[b"of change %d" % number] * EACH))
        ends[epoch_of(cluster, topic)] = client.end_offset(topic)
    return EpochEnds(topic, ends)


@judges("EPOCH-001")
@needs_broker(Use.CLUSTER)
def test_leader_epoch_rises_with_each_leader_change(cluster: Cluster) -> None:
    """The leader's broker dies and comes back, three times."""
    topic = cluster.create_topic()
    epochs = [epoch_of(cluster, topic)]
    with requirement("EPOCH-001"):
        for _ in range(ROUNDS):
            change_leader(cluster, topic)
            epochs.append(epoch_of(cluster, topic))
            assert epochs[-1] > epochs[-2], f"epochs over changes of the leader: {epochs}"


@judges("EPOCH-002")
@needs_broker(Use.CLUSTER)
def test_offset_for_leader_epoch_returns_start_of_next_epoch_or_log_end(cluster: Cluster) -> None:
    """Three epochs with records; the current one ends at the log's end."""
    written = _written(cluster)
    client = cluster.leader_client(written.topic)
    for version in served(client, "OffsetForLeaderEpoch"):
        with checked("EPOCH-002", "OffsetForLeaderEpoch", version):
            for epoch, end in written.ends.items():
                told = end_of(client, written.topic, epoch, version)
                expect_error(told.error_code, ErrorCode.NONE, f"epoch {epoch}")
                assert told.end_offset == end, f"epoch {epoch} ends at {told.end_offset}, not {end}"
                said = told.leader_epoch if version else epoch
                assert said == epoch, f"asked for epoch {epoch}, told of {said}"


@judges("EPOCH-003")
@needs_broker(Use.CLUSTER)
def test_offset_for_leader_epoch_without_records_returns_previous_epoch(cluster: Cluster) -> None:
    """Nothing is written in the epoch between two others."""
    topic = cluster.create_topic()
    first = epoch_of(cluster, topic)
    append(cluster.leader_client(topic), topic, batch_of(*[b"r"] * EACH))
    change_leader(cluster, topic)
    empty = epoch_of(cluster, topic)
    change_leader(cluster, topic)
    client = cluster.leader_client(topic)
    append(client, topic, batch_of(b"r"))
    for version in served(client, "OffsetForLeaderEpoch", "1+"):
        with checked("EPOCH-003", "OffsetForLeaderEpoch", version):
            told = end_of(client, topic, empty, version)
            expect_error(told.error_code, ErrorCode.NONE)
            found = (told.leader_epoch, told.end_offset)
            assert found == (first, EACH), f"of epoch {empty}: {found}, expected {(first, EACH)}"


@judges("EPOCH-005")
@needs_broker(Use.CLUSTER)
def test_offset_for_leader_epoch_validates_current_leader_epoch(cluster: Cluster) -> None:
    """An older one, a newer one; a follower; a topic that is not there."""
    written = _written(cluster, changes=1)
    topic, current = written.topic, written.current
    leader = cluster.leader(topic)
    client, follower = cluster.at(leader), cluster.at(cluster.others(leader)[0])
    missing = Topic(cluster.unique_topic())
    for version in served(client, "OffsetForLeaderEpoch", "2+"):
        with checked("EPOCH-005", "OffsetForLeaderEpoch", version):
            for known, code in (
                (current, ErrorCode.NONE),
                (current - 1, ErrorCode.FENCED_LEADER_EPOCH),
                (current + 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
            ):
                told = end_of(client, topic, current, version, known)
                expect_error(told.error_code, code, f"epoch {known}, the leader's is {current}")
            told = end_of(follower, topic, current, version, current)
            expect_error(told.error_code, ErrorCode.NOT_LEADER_OR_FOLLOWER, "a follower")
            told = end_of(client, missing, current, version)
            expect_error(told.error_code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no topic")


@judges("EPOCH-006")
@needs_broker(Use.CLUSTER)
def test_consumer_fetch_after_divergence_returns_diverging_epoch_no_records(
    cluster: Cluster,
) -> None:
    """It says that it read beyond the end of an older epoch."""
    written = _written(cluster, changes=1)
    topic = written.topic
    (first, end), (_, log_end) = sorted(written.ends.items())
    client = cluster.leader_client(topic)
    for version in served(client, "Fetch", "12+"):
        with checked("EPOCH-006", "Fetch", version):
            data = _fetched(cluster, topic, version, log_end - 1, first)
            expect_error(data.error_code, ErrorCode.NONE)
            told = data.diverging_epoch
            assert (told.epoch, told.end_offset) == (first, end), (
                f"diverging epoch {told.epoch}, {told.end_offset}; epoch {first} ends at {end}"
            )
            assert not record_bytes(data), f"records came: {values_of(data)}"
            same = _fetched(cluster, topic, version, end, first).diverging_epoch
            assert same.end_offset == -1, f"at the end of its epoch: diverging, {same.end_offset}"


def _fetched(
    cluster: Cluster, topic: Topic, version: int, offset: int, last_epoch: int
) -> FetchResponse.PartitionData:
    wanted = fetch_partition(offset)
    wanted.last_fetched_epoch = last_epoch
    request = fetch_request([fetch_topic(topic, version, [wanted])])
    answer = cluster.leader_client(topic).ask(request, version)
    return only(only(answer.responses, "topic").partitions, "partition")


@judges("EPOCH-011")
@needs_broker(Use.CLUSTER)
def test_follower_kill_after_acks_all_loses_no_committed_record(cluster: Cluster) -> None:
    """It is killed as soon as a record is acknowledged, comes back, and then has to lead."""
    one, two = cluster.nodes[:2]
    topic = cluster.create_topic([[one, two]], {"min.insync.replicas": "1"})
    acknowledged: list[bytes] = []
    with requirement("EPOCH-011"):
        for number in range(ROUNDS):
            leader = cluster.leader(topic)
            (follower,) = {one, two} - {leader}
            acknowledged.append(b"%d" % number)
            append(cluster.at(leader), topic, batch_of(acknowledged[-1]))
            cluster.kill(follower)
            bring_back(cluster, topic, follower)
            _, now = lose_leader(cluster, topic)
            found = cluster.last_seen(
                partial(_values_at, cluster, now, topic), lambda values: values == acknowledged
            )
            assert found == acknowledged, f"acknowledged {acknowledged}, then there is {found}"
            bring_back(cluster, topic, leader)


def _values_at(cluster: Cluster, node: int, topic: Topic) -> list[bytes | None]:
    return values_of(cluster.at(node).fetch(topic, 0))


@judges("EPOCH-012")
@needs_broker(Use.CLUSTER)
def test_batches_keep_leader_epoch_on_all_replicas_after_failover(cluster: Cluster) -> None:
    """On all replicas, after each change of the leader."""
    written = _written(cluster)
    topic, log_end = written.topic, max(written.ends.values())
    follower_version(cluster, topic)
    expected = [(end - EACH, epoch) for epoch, end in written.ends.items()]
    with requirement("EPOCH-012"):
        for node in cluster.nodes[:3]:
            data = await_served_by(cluster, node, topic, log_end)
            batches = batches_in(record_bytes(data))
            found = [(batch.base_offset, batch.partition_leader_epoch) for batch in batches]
            assert found == expected, f"replica {node}: (offset, epoch) {found}, not {expected}"


@judges("EPOCH-013")
@needs_broker(Use.CLUSTER)
def test_fetch_with_newer_epoch_returns_unknown_leader_epoch_until_it_begins(
    cluster: Cluster,
) -> None:
    """Brokers are asked with the next leader's epoch, and that leader again when it leads."""
    topic = cluster.create_topic()
    versions = served(cluster.front, "Fetch", "11+")
    append(cluster.leader_client(topic), topic, batch_of(b"r"))
    current = epoch_of(cluster, topic)
    to_come = range(current + 1, current + 1 + AHEAD)
    for version in versions:
        with checked("EPOCH-013", "Fetch", version):
            for node, newer in product(cluster.nodes[:3], to_come):
                data = fetched_in(cluster.at(node), topic, version, newer)
                what = f"broker {node}, epoch {newer} is to come"
                expect_error(data.error_code, ErrorCode.UNKNOWN_LEADER_EPOCH, what)
    _, now = lose_leader(cluster, topic)
    if (newer := epoch_of(cluster, topic)) not in to_come:
        raise PreparationFailed(f"the next leader epoch is {newer}, the last was {current}")
    for version in versions:
        with checked("EPOCH-013", "Fetch", version):
            data = fetched_in(cluster.at(now), topic, version, newer)
            expect_error(data.error_code, ErrorCode.NONE, f"epoch {newer} has begun")
            assert values_of(data) == [b"r"], f"it gives {values_of(data)}"

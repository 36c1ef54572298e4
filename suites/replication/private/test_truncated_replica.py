"""RECV: a replica that lost the end of its log gets it from the leader."""

from __future__ import annotations

from pathlib import Path

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.broken_logs import entries_of, segments_in, stored
from suites.protocol.support.appended import append, batch_of
from suites.replication.support.failover import bring_back

BATCHES = 10
LEFT = 6


def _segment(cluster: Cluster, node: int, topic: Topic) -> Path:
    """Return the only segment of partition 0 at this node."""
    folders = [each / f"{topic.name}-0" for each in cluster.log_directories(node)]
    (found,) = [file for folder in folders if folder.is_dir() for file in segments_in(folder)]
    return found


@judges("RECV-009")
@needs_broker(Use.CLUSTER)
def test_truncated_replica_refetches_lost_records_from_leader(cluster: Cluster) -> None:
    """Cut inside of an entry while its broker is down and the leader goes on; then it leads."""
    leader, victim = cluster.nodes[:2]
    topic = cluster.create_topic([[leader, victim]], {"min.insync.replicas": "1"})
    append(cluster.at(leader), topic, *(batch_of(b"%d" % each) for each in range(BATCHES)))
    cluster.kill(victim)
    file = _segment(cluster, victim, topic)
    data = file.read_bytes()
    cut = entries_of(data)[LEFT]
    file.write_bytes(data[: cut.at + cut.size // 2])
    append(cluster.at(leader), topic, batch_of(b"later"))
    bring_back(cluster, topic, victim)
    with requirement("RECV-009"):
        whole = _segment(cluster, leader, topic).read_bytes()
        there = cluster.last_seen(file.read_bytes, whole.__eq__)
        assert there == whole, f"{len(there)} bytes, of {len(whole)} that the leader has"
        cluster.kill(leader)
        cluster.await_leader(topic, among=[victim])
        found = [value for _, value in stored(cluster.at(victim), topic, 0)]
        expected = [*(b"%d" % each for each in range(BATCHES)), b"later"]
        assert found == expected, f"where it was cut, {found} are read, not {expected}"

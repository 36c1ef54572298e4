"""EPOCH, REPL: checkpoint files of a broker with the starts of epochs and the high watermark."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.records import decode_batches
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.replication.support.alike import await_known_as_committed
from suites.replication.support.checkpoints import epochs_noted, high_watermark_noted
from suites.replication.support.failover import change_leader

CLIENT_ID = "checkpoints"
LEADERS = 3
REFRESHED_WITHIN_MS = 15_000
"""The interval is 5 s by default."""
BATCHES = 5


@judges("EPOCH-014")
@needs_broker(Use.CLUSTER)
def test_leader_epoch_checkpoint_matches_log(cluster: Cluster) -> None:
    """Each leader of three has written; all replicas note each epoch once, where it starts."""
    cluster.front.version("Fetch", "4+")
    cluster.log_directories(cluster.nodes[0])
    topic = cluster.create_topic()
    append(cluster.leader_client(topic), topic, batch_of(b"r"))
    for _ in range(LEADERS - 1):
        change_leader(cluster, topic)
        append(cluster.leader_client(topic), topic, batch_of(b"r"))
    starts = _starts(cluster, topic)
    with requirement("EPOCH-014"):
        assert len(starts) == LEADERS, f"the log has the epochs {starts}"
        for node in cluster.nodes[:3]:
            noted = cluster.last_seen(
                lambda node=node: epochs_noted(cluster, node, topic),  # type: ignore[misc]
                lambda seen: starts.items() <= dict(seen).items(),
            )
            what = f"broker {node} notes {noted}"
            assert starts.items() <= dict(noted).items(), f"{what}, the log has {starts}"
            epochs, offsets = [list(column) for column in zip(*noted, strict=True)]
            assert epochs == sorted(set(epochs)), f"{what}: an epoch a line, in their order"
            assert offsets == sorted(offsets), f"{what}: their starts go on"


def _starts(cluster: Cluster, topic: Topic) -> dict[int, int]:
    """The first offset of each epoch that wrote, by the batches of the leader's log."""
    data = cluster.leader_client(topic).fetch(topic, 0)
    found: dict[int, int] = {}
    for batch in decode_batches(record_bytes(data)):
        found.setdefault(batch.partition_leader_epoch, batch.base_offset)
    return found


@judges("REPL-029")
@needs_broker(Use.CLUSTER)
def test_high_watermark_checkpoint_follows_committed_offset(cluster: Cluster) -> None:
    """Never above what is committed, soon there at all replicas, and exactly there at an end."""
    cluster.log_directories(cluster.nodes[0])
    topic = cluster.create_topic()
    leader = cluster.leader(topic)
    append(cluster.at(leader), topic, *[batch_of(b"r")] * BATCHES)
    with requirement("REPL-029"):
        for node in cluster.nodes[:3]:
            noted = cluster.last_seen(
                lambda node=node: _noted_below(cluster, node, topic),  # type: ignore[misc]
                lambda seen: seen == BATCHES,
                REFRESHED_WITHIN_MS,
            )
            assert noted == BATCHES, f"broker {node} notes {noted}, committed are {BATCHES}"
        append(cluster.at(leader), topic, batch_of(b"last"))
        await_known_as_committed(cluster, topic, CLIENT_ID)
        cluster.stop(leader)
        noted = high_watermark_noted(cluster, leader, topic)
        assert noted == BATCHES + 1, f"at its end the leader notes {noted}, not {BATCHES + 1}"


def _noted_below(cluster: Cluster, node: int, topic: Topic) -> int | None:
    """Return the high watermark in the checkpoint, which is never above the committed one."""
    noted = high_watermark_noted(cluster, node, topic)
    committed = cluster.leader_client(topic).end_offset(topic)
    assert noted is None or noted <= committed, f"broker {node}: {noted}, committed {committed}"
    return noted

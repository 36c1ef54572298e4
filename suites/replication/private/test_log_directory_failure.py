"""LDIR: one of a broker's log directories fails, others take over what it led there."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import Inconclusive, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.log_dirs import (
    DIRECTORIES,
    NOTED_EVERY_MS,
    PARTITIONS,
    put_a_file_in_place_of,
)
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error


def _in_second(cluster: Cluster, node: int, topic: Topic) -> set[int]:
    """Partitions of the topic that this node keeps in its second directory."""
    _, second = cluster.log_directories(node)
    return {index for index in range(PARTITIONS) if (second / f"{topic.name}-{index}").is_dir()}


@judges("LDIR-006")
@needs_broker(
    Use.CLUSTER,
    {"log.dirs": DIRECTORIES, "replica.high.watermark.checkpoint.interval.ms": NOTED_EVERY_MS},
)
def test_failed_log_directory_moves_its_leaders_to_other_brokers(cluster: Cluster) -> None:
    """And the broker leads on what is in its other one."""
    cluster.front.version("DescribeLogDirs")
    failing, *others = cluster.nodes[:3]
    topic = cluster.create_topic([[failing, *others]] * PARTITIONS)
    lost = _in_second(cluster, failing, topic)
    if not 0 < len(lost) < PARTITIONS:
        raise Inconclusive(f"{len(lost)} of {PARTITIONS} partitions are in the second directory")
    for index in range(PARTITIONS):
        append(cluster.at(failing), topic, batch_of(b"before"), partition=index)
    put_a_file_in_place_of(cluster.log_directories(failing)[1])
    with requirement("LDIR-006"):
        leaders = cluster.last_seen(
            lambda: _leaders(cluster, topic),
            lambda seen: not any(seen[index] == failing or seen[index] < 0 for index in lost),
        )
        for index, leader in leaders.items():
            where = f"partition {index}, in the {'first' if index not in lost else 'failed'} one"
            expected = others if index in lost else [failing]
            assert leader in expected, f"{where}: {leader} leads, not one of {expected}"
            client = cluster.at(cluster.await_leader(topic, index, among=expected))
            answer = client.produce(topic, batch_of(b"after"), partition=index)
            expect_error(answer.error_code, ErrorCode.NONE, f"{where}: Produce")
            assert answer.base_offset == 1, f"{where}: stored at {answer.base_offset}, not 1"


def _leaders(cluster: Cluster, topic: Topic) -> dict[int, int]:
    """Return the leader of each partition, as a broker without a failure names it."""
    told = cluster.topic_by(cluster.nodes[1], topic.name)
    return {index: each.leader for index, each in sorted(told.items())}

"""Deletion of segments: by size, by age, and below the log start."""

import pytest

from harness.base.ids import Offset, TimeMs
from harness.reference_broker.state.cleaning.log_retention import (
    delete_old_segments,
    retention_round,
)
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.partition.offset_search import (
    EARLIEST,
    LATEST,
    find_offset,
    old_style_offsets,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.topics.cluster import ClusterState
from tests.reference_broker.state.partition.test_partition import NOW, Counting, partition, sent

SIZE = len(sent(0))
LATER = TimeMs(NOW + 10_000)


def three_segments(**configs: str) -> Partition:
    """Offsets 0, 1, 2: a segment each, of times NOW, NOW + 2000, NOW + 4000."""
    target = partition(segment_ms="1000", **configs)
    for delta in (0, 2000, 4000):
        target.append(sent(0, base_timestamp=NOW + delta), NOW)
    return target


def begin_after(target: Partition, now: int) -> int:
    delete_old_segments(target, TimeMs(now))
    return target.log.start_offset


def test_retention_ms_deletes_segments_by_their_newest_record() -> None:
    target = three_segments(retention_ms="5000")
    assert [begin_after(target, NOW + at) for at in (5000, 5001, 9000, 9001)] == [0, 1, 2, 3]
    assert (target.log.size_bytes, find_offset(target, EARLIEST).offset) == (0, 3)
    assert target.append(sent(0), LATER).base_offset == 3
    assert target.log.read(Offset(3), SIZE, True)[:8] == (3).to_bytes(8)


def test_retention_stops_at_first_segment_with_recent_record() -> None:
    target = partition(retention_ms="5000")
    target.append(sent(0, base_timestamp=NOW + 9000), NOW)
    target.append(sent(0, base_timestamp=NOW), NOW)
    assert begin_after(target, NOW + 9000) == 0


def test_retention_of_records_without_timestamp_uses_append_time() -> None:
    target = partition(retention_ms="5000")
    target.append(sent(0, base_timestamp=-1), NOW)
    assert [begin_after(target, NOW + at) for at in (5000, 5001)] == [0, 1]


@pytest.mark.parametrize(
    ("limit_bytes", "begin"),
    [(-1, 0), (3 * SIZE, 0), (2 * SIZE + 1, 0), (2 * SIZE, 1), (SIZE, 2), (0, 3)],
)
def test_retention_bytes_deletes_only_whole_excess_segments(limit_bytes: int, begin: int) -> None:
    target = three_segments(retention_bytes=str(limit_bytes), retention_ms="-1")
    assert begin_after(target, NOW) == begin


@pytest.mark.parametrize(("policy", "left"), [("compact,delete", [3]), ("compact", [2, 3])])
def test_compact_policy_deletes_only_segments_below_log_start_offset(
    policy: str, left: list[int]
) -> None:
    target = three_segments(cleanup_policy=policy, retention_ms="1")
    target.log.delete_below(Offset(2))
    delete_old_segments(target, LATER)
    assert sorted(old_style_offsets(target, LATEST, 9, LATER)) == left


def test_retention_round_skips_compacted_topics() -> None:
    cluster = ClusterState(ProducerExpiration(60_000, 1_000))
    for name, policy in (("deleted", "delete"), ("both", "compact,delete")):
        config = TopicConfig.of({"cleanup.policy": policy, "retention.ms": "1"}, {})
        cluster.create(name, config, 1, (), Counting()).partitions[0].append(sent(0), NOW)
    steps = list(retention_round(cluster, LATER))
    assert len(steps) == 2
    assert [each.log.start_offset for each in cluster.partitions()] == [1, 0]

"""STOR: the share of a log that must be dirty before it is compacted."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.compacted import (
    QUICKLY,
    KeyedBatches,
    await_compacted,
    compacted_topic,
)
from suites.protocol.support.config_admin import TOPIC, prepare_all
from suites.protocol.support.dirty_logs import (
    ALL,
    FEW,
    FIRST,
    LARGER,
    LEFT_OF_FEW,
    LEFT_OF_FIRST,
    LEFT_OF_MORE,
    MORE,
    SMALL,
    expect_left,
    write,
)


@judges("STOR-024")
@needs_broker(Use.OWN, QUICKLY)
def test_log_is_compacted_once_dirty_ratio_exceeds_its_minimum(broker: BrokerUnderTest) -> None:
    """Beside a log that is always compacted: one at a half, and one that never is.

    A log that was never compacted is dirty as a whole. Then some small batches are dirty, and then
    larger ones than all that were compacted. Between, the log beside is compacted twice.
    """
    always, at_half = compacted_topic(broker), compacted_topic(broker, least_dirty="0.5")
    never = compacted_topic(broker, least_dirty="1")
    made = KeyedBatches()
    with requirement("STOR-024"):
        write(broker, made, FIRST, always, at_half, never)
        await_compacted(broker, always, {0: LEFT_OF_FIRST})
        await_compacted(broker, at_half, {0: LEFT_OF_FIRST})
        write(broker, made, FEW, always, at_half)
        await_compacted(broker, always, {0: LEFT_OF_FEW})
        write(broker, made, MORE, always)
        await_compacted(broker, always, {0: LEFT_OF_MORE})
        expect_left(broker, at_half, [*LEFT_OF_FIRST, 6, 7], "small batches are dirty")
        write(broker, made, MORE, at_half)
        await_compacted(broker, at_half, {0: LEFT_OF_MORE})
        expect_left(broker, never, ALL, "the minimum is 1")


@judges("STOR-024")
@needs_broker(Use.OWN, QUICKLY)
def test_removed_bytes_are_no_part_of_compacted_share(broker: BrokerUnderTest) -> None:
    """A large record is compacted away; half as much is then more than half of the log.

    The log is compacted from now on only, so that the first compaction reads all of it.
    """
    broker.version("AlterConfigs")
    rolling = {"segment.ms": "1"}
    topic = broker.create_topic(configs={"cleanup.policy": "delete", **rolling})
    made = KeyedBatches()
    write(broker, made, [(b"a", LARGER), *((key, SMALL) for key in (b"a", b"b", b"c"))], topic)
    half = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.5"}
    prepare_all(broker, (TOPIC, topic.name), {**half, **rolling})
    with requirement("STOR-024"):
        await_compacted(broker, topic, {0: [1, 2, 3]})
        write(broker, made, [(b"b", LARGER // 2), (b"d", SMALL)], topic)
        await_compacted(broker, topic, {0: [1, 3, 4, 5]})


@judges("STOR-024")
@needs_broker(Use.OWN, QUICKLY)
def test_active_segment_is_no_part_of_either_share(broker: BrokerUnderTest) -> None:
    """The last record, which is never compacted, is larger than the log before it."""
    at_half = compacted_topic(broker, least_dirty="0.5")
    made = KeyedBatches()
    with requirement("STOR-024"):
        small = [(key, SMALL) for key in (b"a", b"a", b"b")]
        write(broker, made, [*small, (b"c", LARGER)], at_half)
        await_compacted(broker, at_half, {0: [1, 2, 3]})

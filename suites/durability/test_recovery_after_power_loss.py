"""RECV: the log of a broker after its disk has lost all unflushed data."""

from __future__ import annotations

from harness.client.requests import EARLIEST, Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.power_loss_broker import PowerLossBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.durability.support.noted_offsets import (
    LOG_STARTS,
    RECOVERY_POINTS,
    delete_below,
    flush_folders,
    noted_of,
)
from suites.durability.support.whole_log import Stored, acknowledged, expect_lost_at_most, stored

MESSAGES = 5
FLUSH_MS, LOOK_MS = 300, 100
WITHIN_MS = 30_000 + FLUSH_MS + 2 * LOOK_MS + 1_000  # the last for the flush itself
FLUSHED, BETWEEN, IN_TIME, UNFLUSHED, TRIMMED = 37, 53, 67, 23, 11
"""Numbers of records that the tests send at a time."""


def _known_topic(lossy: PowerLossBroker) -> Topic:
    """One that is on the disk, as topics soon are by themselves."""
    topic = lossy.client.create_topic()
    lossy.sync()
    return topic


def _come_back(lossy: PowerLossBroker, topic: Topic) -> None:
    """A power loss, and a start with what the disk has."""
    lossy.lose_power()
    lossy.start()
    await_back(lossy.client, topic)


@judges("RECV-011")
@needs_broker(Use.PERSISTENT, {"log.flush.interval.messages": "1", **BRIEF})
def test_flush_of_every_message_keeps_acknowledged_records(
    power_loss_broker: PowerLossBroker,
) -> None:
    """With acks=1 as with acks=all, twice: what was there once stays there."""
    topic = power_loss_broker.client.create_topic()
    sent: Stored = []
    for number in (1, 2):
        sent += acknowledged(power_loss_broker.client, topic, FLUSHED)
        _come_back(power_loss_broker, topic)
        with requirement("RECV-011"):
            found = stored(power_loss_broker.client, topic, len(sent))
            expect_lost_at_most(found, sent, 0, f"behind power loss {number}")


@judges("RECV-012")
@needs_broker(Use.PERSISTENT, {"log.flush.interval.messages": str(MESSAGES), **BRIEF})
def test_power_loss_loses_at_most_flush_interval_messages(
    power_loss_broker: PowerLossBroker,
) -> None:
    topic = _known_topic(power_loss_broker)
    sent = acknowledged(power_loss_broker.client, topic, BETWEEN)
    _come_back(power_loss_broker, topic)
    with requirement("RECV-012"):
        found = stored(power_loss_broker.client, topic, BETWEEN - MESSAGES)
        expect_lost_at_most(found, sent, MESSAGES, f"flushed every {MESSAGES} messages,")


@judges("RECV-012")
@needs_broker(
    Use.PERSISTENT,
    {
        "log.flush.interval.ms": str(FLUSH_MS),
        "log.flush.scheduler.interval.ms": str(LOOK_MS),
        "log.flush.offset.checkpoint.interval.ms": str(LOOK_MS),
        "log.initial.task.delay.ms": "0",
        **BRIEF,
    },
)
def test_power_loss_loses_at_most_records_since_last_flush(
    power_loss_broker: PowerLossBroker,
) -> None:
    """The flush is awaited where the broker notes it (the recovery point), as long as it may take.

    Without log.initial.task.delay.ms, which 3.7.2 lacks, Kafka looks first 30 s after its start.
    """
    topic = _known_topic(power_loss_broker)
    sent = acknowledged(power_loss_broker.client, topic, IN_TIME)
    power_loss_broker.client.last_seen(
        lambda: noted_of(power_loss_broker, RECOVERY_POINTS, topic),
        lambda noted: noted >= IN_TIME,
        WITHIN_MS,
    )
    later = acknowledged(power_loss_broker.client, topic, IN_TIME)
    _come_back(power_loss_broker, topic)
    with requirement("RECV-012"):
        found = stored(power_loss_broker.client, topic, IN_TIME)
        when = f"flushed every {FLUSH_MS} ms, {IN_TIME} records later,"
        expect_lost_at_most(found, sent + later, IN_TIME, when)


@judges("RECV-013")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_acks_all_by_default_does_not_imply_flush_to_disk(
    power_loss_broker: PowerLossBroker,
) -> None:
    """With acks=all and one replica, by default: what came a moment before a power loss is lost."""
    topic = _known_topic(power_loss_broker)
    sent = acknowledged(power_loss_broker.client, topic, UNFLUSHED, acks=[-1])
    _come_back(power_loss_broker, topic)
    with requirement("RECV-013"):
        found = stored(power_loss_broker.client, topic)
        expect_lost_at_most(found, sent, UNFLUSHED, "not flushed,")
        told = f"all of {UNFLUSHED} records that were acknowledged a moment before are on the disk"
        assert len(found) < UNFLUSHED, told


@judges("DELR-007")
@needs_broker(
    Use.PERSISTENT,
    {
        "log.flush.start.offset.checkpoint.interval.ms": str(LOOK_MS),
        "log.initial.task.delay.ms": "0",
        **BRIEF,
    },
)
def test_checkpointed_log_start_does_not_decrease_after_power_loss(
    power_loss_broker: PowerLossBroker,
) -> None:
    """The disk has records below it and none above: the log is empty and begins where it did.

    That the note is on the disk is seen to here: Kafka 2.8.2 does not flush the folder behind it.
    """
    topic = _known_topic(power_loss_broker)
    acknowledged(power_loss_broker.client, topic, TRIMMED)
    power_loss_broker.sync()
    acknowledged(power_loss_broker.client, topic, TRIMMED)
    delete_below(power_loss_broker.client, topic, TRIMMED + 1)
    power_loss_broker.client.eventually(
        lambda: noted_of(power_loss_broker, LOG_STARTS, topic) == TRIMMED + 1,
        "the log start is noted",
        WITHIN_MS,
    )
    flush_folders(power_loss_broker)
    _come_back(power_loss_broker, topic)
    with requirement("DELR-007"):
        start = power_loss_broker.client.list_offset(topic, EARLIEST).offset
        end = power_loss_broker.client.end_offset(topic)
        told = f"deleted below {TRIMMED + 1}, behind a power loss the log is {start} to {end}"
        assert start == TRIMMED + 1 <= end, told

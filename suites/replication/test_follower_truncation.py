"""EPOCH: a real follower of a virtual leader, and what it throws away to have the same log."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.served_log import ServedLog
from suites.protocol.support.fetching import values_of
from suites.protocol.support.idempotent import new_producer
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_log_end,
    expect_records,
)
from suites.replication.support.rivals import Rivals, as_served

PRODUCER = 1 << 40
"""A producer id that no broker has given to a producer."""
READ_COMMITTED = 1


def _ahead_of(rivals: Rivals, log: ServedLog) -> None:
    """Make the real broker follow six records, lead, and write three that no other broker has."""
    log.append(rivals.epoch, *(b"old%d" % number for number in range(6)))
    rivals.virtual_leads(log)
    rivals.follows(6)
    rivals.real_leads()
    rivals.virtual_is_elected(claims=6)
    rivals.partition.produce(3)
    rivals.follows(9)


@judges("EPOCH-007")
@needs_broker(Use.JOINABLE)
def test_follower_ahead_of_new_leader_truncates_at_divergence_point(rivals: Rivals) -> None:
    """The follower has three records after the common prefix, the new leader has two others."""
    log = ServedLog()
    _ahead_of(rivals, log)
    written_in = rivals.epoch
    rivals.virtual_leads_again()
    log.append(rivals.epoch, b"new6", b"new7")
    with requirement("EPOCH-007"):
        rivals.virtual_leads(log)
        rivals.follows(8)
        asked = [(one.offset, one.last_epoch) for one in rivals.endpoint.asked]
        told = f"the follower has asked from {asked}"
        assert (9, written_in) in asked, f"{told}, never from 9 after epoch {written_in}"
        after = next((offset for offset, epoch in asked if epoch != written_in), None)
        assert after == 6, f"{told}: it goes on at {after}, expected 6"
        rivals.peers.broker.eventually(lambda: len(rivals.stored()) == 8, "eight are committed")
        assert rivals.stored() == as_served(log), f"it has {rivals.stored()}"


@judges("EPOCH-008")
@needs_broker(Use.JOINABLE)
def test_follower_truncation_keeps_committed_records(
    rivals: Rivals, broker: BrokerUnderTest
) -> None:
    """The new leader has nothing but the six committed records; the three others go."""
    log = ServedLog()
    _ahead_of(rivals, log)
    rivals.virtual_leads_again()
    with requirement("EPOCH-008"):
        rivals.virtual_leads(log)
        broker.eventually(lambda: rivals.partition.log_end() < 9, "the follower cuts its log")
        rivals.endpoint.asked.clear()
        broker.eventually(lambda: bool(rivals.endpoint.asked), "the follower asks on")
        expect_log_end(rivals.partition, 6, "after the cut")
        assert rivals.stored() == as_served(log), f"it has {rivals.stored()}"


@judges("EPOCH-010")
@needs_broker(Use.JOINABLE)
def test_follower_truncation_follows_several_leader_epochs(rivals: Rivals) -> None:
    """Each has led twice since they had the same, and neither knows the other's epochs."""
    log = ServedLog()
    log.append(rivals.epoch, b"both0", b"both1", b"both2")
    rivals.virtual_leads(log)
    rivals.follows(3)
    rivals.real_leads()
    rivals.virtual_is_elected(claims=3)
    rivals.partition.produce(3)
    rivals.virtual_leads_again()  # and serves nothing, so that the follower keeps what it has
    log.append(rivals.epoch, b"mine3", b"mine4")
    rivals.real_leads()
    rivals.virtual_is_elected(claims=6)
    rivals.partition.produce()
    rivals.virtual_leads_again()
    log.append(rivals.epoch, b"mine5")
    with requirement("EPOCH-010"):
        rivals.virtual_leads(log)
        rivals.follows(6)
        rivals.peers.broker.eventually(
            lambda: rivals.stored() == as_served(log), f"its log is {as_served(log)}"
        )


@judges("EPOCH-010")
@needs_broker(Use.JOINABLE)
def test_follower_truncates_below_end_of_epoch_that_it_does_not_know(rivals: Rivals) -> None:
    """The leader's earlier epoch ends behind the common prefix, and within the follower's log."""
    log = ServedLog()
    log.append(rivals.epoch, b"both0", b"both1", b"both2")
    rivals.virtual_leads(log)
    rivals.follows(3)
    rivals.real_leads()
    rivals.virtual_is_elected(claims=3)
    rivals.virtual_leads_again()  # and serves nothing: the follower does not know this epoch
    log.append(rivals.epoch, b"mine3", b"mine4", b"mine5", b"mine6")
    rivals.real_leads()
    rivals.virtual_is_elected(claims=3)
    rivals.partition.produce(5)
    rivals.virtual_leads_again()
    log.append(rivals.epoch, b"mine7")
    with requirement("EPOCH-010"):
        rivals.virtual_leads(log)
        rivals.peers.broker.eventually(
            lambda: rivals.stored() == as_served(log), f"its log is {as_served(log)}"
        )


@judges("EPOCH-018")
@needs_broker(Use.JOINABLE)
def test_truncation_below_high_watermark_lowers_it_to_log_end(rivals: Rivals) -> None:
    """The leader has lost three of six committed records; then the follower leads."""
    log, partition = ServedLog(), rivals.partition
    log.append(rivals.epoch, *(b"old%d" % number for number in range(6)))
    rivals.virtual_leads(log)
    rivals.follows(6)
    rivals.peers.broker.eventually(
        lambda: partition.consume(0).high_watermark == 6, "the follower's high watermark is 6"
    )
    del log.entries[3:]
    log.high_watermark = 3
    with requirement("EPOCH-018"):
        rivals.follows(3)
        rivals.real_leads()
        expect_high_watermark(partition, 3, "the follower leads")
        partition.produce()
        read = expect_high_watermark(partition, 4, "it has one more record")
        expect_records(read, range(4), "a consumer")


@judges("EPOCH-016")
@needs_broker(Use.JOINABLE)
def test_batch_that_truncation_removed_is_appended_when_producer_sends_it_again(
    rivals: Rivals, broker: BrokerUnderTest
) -> None:
    """The real broker leads again: it knows the batch before the cut, and none behind it."""
    log, topic, producer = ServedLog(), rivals.partition.topic, new_producer(broker)
    kept, cut, following = (producer.batch(number, b"%d" % number) for number in range(3))
    rivals.virtual_leads(log)
    rivals.real_leads()
    broker.produce(topic, kept, acks=1)
    log.append(rivals.epoch, b"0")
    rivals.virtual_is_elected(claims=1)
    broker.produce(topic, cut, acks=1)
    rivals.virtual_leads_again()
    log.append(rivals.epoch, b"new1", b"new2")
    rivals.virtual_leads(log)
    rivals.follows(3)
    rivals.real_leads()
    with requirement("EPOCH-016"):
        _expect_stored(rivals, "the batch before the cut", kept, at=0, end=3)
        _expect_stored(rivals, "the batch that was cut", cut, at=3, end=4)
        _expect_stored(rivals, "the batch after it", following, at=4, end=5)


@judges("EPOCH-017")
@needs_broker(Use.JOINABLE)
def test_truncation_removes_aborted_transaction_with_its_marker(
    rivals: Rivals, broker: BrokerUnderTest
) -> None:
    """The first leader aborts a transaction; the marker is cut, and the next one commits it."""
    log, topic = ServedLog(), rivals.partition.topic
    log.begin_transaction(rivals.epoch, PRODUCER, b"decided")
    log.end_transaction(rivals.epoch, PRODUCER, commit=False)
    rivals.virtual_leads(log)
    rivals.follows(2)
    rivals.real_leads()
    aborted = broker.fetch(topic, 0, isolation_level=READ_COMMITTED).aborted_transactions
    if [one.producer_id for one in aborted or ()] != [PRODUCER]:
        raise PreparationFailed(f"before the cut the aborted transactions are {aborted}")
    rivals.virtual_is_elected(claims=2)
    rivals.virtual_leads_again()
    del log.entries[1:]
    log.end_transaction(rivals.epoch, PRODUCER, commit=True)
    log.append(rivals.epoch, b"later")
    with requirement("EPOCH-017"):
        rivals.virtual_leads(log)
        rivals.follows(3)
        rivals.real_leads()
        read = broker.last_seen(
            lambda: broker.fetch(topic, 0, isolation_level=READ_COMMITTED),
            lambda data: data.last_stable_offset == 3,
        )
        found = values_of(read)
        assert found[:1] == [b"decided"], f"after the cut a consumer receives {found}"
        named = [(one.producer_id, one.first_offset) for one in read.aborted_transactions or ()]
        assert not named, f"after the cut the aborted transactions are {named}"
        stable = read.last_stable_offset
        assert stable == 3, f"after the cut the last stable offset is {stable}, expected 3"


def _expect_stored(rivals: Rivals, what: str, batch: bytes, *, at: int, end: int) -> None:
    """Send the batch: it is at this offset, and the log ends there."""
    answer = rivals.peers.broker.produce(rivals.partition.topic, batch, acks=1)
    expect_error(answer.error_code, ErrorCode.NONE, what)
    assert answer.base_offset == at, f"{what} is at {answer.base_offset}, not {at}"
    expect_log_end(rivals.partition, end, what)

"""IDEM: which batch of a producer may come next, and which is one that came before (KIP-98)."""

from __future__ import annotations

import itertools

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append
from suites.protocol.support.codecs import codecs_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import IdempotentProducer, expect_taken_again, new_producer
from suites.protocol.support.partition_log import UntouchedLog, keys_and_values, stored_batches

LAST_SEQUENCE = 2**31 - 1
WINDOW = 5  # batches of a producer that a broker remembers
FIRST_WITH_KIP_360 = 3  # version of InitProducerId
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def _expect_at(
    broker: BrokerUnderTest,
    topic: Topic,
    batch: bytes,
    version: int,
    offset: int,
    where: str,
    partition: int = 0,
) -> None:
    """The broker acknowledges the batch at this offset."""
    answer = broker.produce(topic, batch, version, partition=partition)
    expect_error(answer.error_code, ErrorCode.NONE, where)
    assert answer.base_offset == offset, (
        f"{where}: acknowledged at offset {answer.base_offset}, expected {offset}"
    )


def _written(
    broker: BrokerUnderTest, *counts: int
) -> tuple[Topic, IdempotentProducer, list[bytes]]:
    """A topic with a batch of each count, all of one producer, sequences from 0 on."""
    topic, producer = broker.create_topic(), new_producer(broker)
    batches, sequence = [], 0
    for count in counts:
        values = [b"record %d" % (sequence + i) for i in range(count)]
        batches.append(producer.batch(sequence, *values))
        sequence += count
    append(broker, topic, *batches)
    return topic, producer, batches


@judges("IDEM-003")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_first_batch_of_unknown_producer_is_accepted_at_any_sequence(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """At 0, at 7, at the last sequence there is; at an epoch that is not the first one, too."""
    topic = broker.create_topic()
    starts = [(0, 0), (7, 0), (LAST_SEQUENCE, 0), (0, 3), (7, 3)]
    producers = [new_producer(broker).at_epoch(epoch) for _, epoch in starts]
    with requirement("IDEM-003"):
        for offset, (producer, (sequence, epoch)) in enumerate(zip(producers, starts, strict=True)):
            batch = producer.batch(sequence, b"first")
            where = f"epoch {epoch}, sequence {sequence}"
            _expect_at(broker, topic, batch, api_version, offset, where)


@judges("IDEM-033")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_log_without_any_record_accepts_unknown_producer_at_any_sequence(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A partition for each start that never held a record; the next sequence is expected then."""
    starts = [(7, 0), (LAST_SEQUENCE - 1, 0), (7, 3)]
    topic = broker.create_topic(partitions=len(starts))
    with requirement("IDEM-033") as check:
        for partition, (sequence, epoch) in enumerate(starts):
            where = f"empty log, epoch {epoch}, sequence {sequence}"
            with check.subtest(where):
                producer = new_producer(broker).at_epoch(epoch)
                batches = [producer.batch(sequence + n, b"record %d" % n) for n in range(2)]
                for offset, batch in enumerate(batches):
                    _expect_at(broker, topic, batch, api_version, offset, where, partition)
                gap = producer.batch(sequence - 1, b"behind a gap")
                log = UntouchedLog(broker, topic, partition)
                log.expect_refusal(gap, api_version, OUT_OF_ORDER, f"{where}, then {sequence - 1}")


@judges("IDEM-034")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_unknown_producer_above_sequence_0_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """In a log without any record and in one with a record: sequences 1, 7 and the last; then 0.

    InitProducerId v3 came with the release that takes any sequence (KIP-360).
    """
    if FIRST_WITH_KIP_360 in broker.advertised("InitProducerId"):
        raise NotApplicable("any_first_sequence", "InitProducerId v3 is advertised (KIP-360)")
    refusals = (OUT_OF_ORDER, ErrorCode.UNKNOWN_PRODUCER_ID)
    topic = broker.create_topic(partitions=2)
    append(broker, topic, new_producer(broker).batch(0, b"of another producer"), partition=1)
    producer = new_producer(broker)
    with requirement("IDEM-034") as check:
        for partition, (held, end) in enumerate([("no record", 0), ("a record", 1)]):
            log = UntouchedLog(broker, topic, partition)
            for sequence in (1, 7, LAST_SEQUENCE):
                where = f"a log with {held}, sequence {sequence}"
                with check.subtest(where):
                    log.renew()
                    batch = producer.batch(sequence, b"refused")
                    sent = broker.produce(topic, batch, api_version, partition=partition)
                    log.expect_untouched(where)
                    assert sent.error_code in refusals, (
                        f"{where}: error is {ErrorCode.describe(sent.error_code)}, expected "
                        "OUT_OF_ORDER_SEQUENCE_NUMBER or UNKNOWN_PRODUCER_ID"
                    )
            first, where = producer.batch(0, b"first"), f"a log with {held}, sequence 0"
            _expect_at(broker, topic, first, api_version, end, where, partition)


@judges("IDEM-004")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_batch_not_at_next_sequence_returns_out_of_order_sequence_number(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Behind sequences 0 to 2 neither 4, nor 2 again, nor one far away; then 3."""
    topic, producer, _ = _written(broker, 3)
    log = UntouchedLog(broker, topic)
    with requirement("IDEM-004") as check:
        for sequence in (4, 2, 1_000, LAST_SEQUENCE):
            with check.subtest(f"sequence {sequence}"):
                batch = producer.batch(sequence, b"out of order")
                where = f"sequence {sequence} behind 2"
                log.expect_refusal(batch, api_version, OUT_OF_ORDER, where)
        batch = producer.batch(3, b"in order")
        _expect_at(broker, topic, batch, api_version, 3, "sequence 3 behind 2")


@judges("IDEM-005")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_resent_batch_among_last_five_returns_original_offset_without_append(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of six batches, which differ in size, the last five: newest first, and oldest first."""
    counts = [3, 1, 2, 1, 4, 2]
    topic, _, batches = _written(broker, *counts)
    remembered = [(sum(counts[:i]), batches[i]) for i in range(len(counts))][-WINDOW:]
    log = UntouchedLog(broker, topic)
    with requirement("IDEM-005"):
        for offset, batch in [*reversed(remembered), *remembered]:
            where = f"the batch at {offset} once more"
            _expect_at(broker, topic, batch, api_version, offset, where)
            log.expect_untouched(where)


@judges("IDEM-005")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_resent_batch_whose_sequences_wrap_returns_original_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Batches that end at the last sequence, at 0 and behind it; each producer begins with one."""
    topic, log_end = broker.create_topic(), 1
    append(broker, topic, new_producer(broker).batch(0, b"first"))
    for first, count in ((LAST_SEQUENCE - 1, 2), (LAST_SEQUENCE - 1, 3), (LAST_SEQUENCE, 4)):
        batch = new_producer(broker).batch(first, *[b"r"] * count)
        if broker.produce(topic, batch).error_code != ErrorCode.NONE:
            raise NotApplicable("any_first_sequence", f"no producer may start at {first}")
        where = f"{count} records from sequence {first} once more"
        with requirement("IDEM-005"):
            _expect_at(broker, topic, batch, api_version, log_end, where)
            log_end += count
            end = broker.end_offset(topic)
            assert end == log_end, f"{where}: the log of {log_end} ends at {end}"


@judges("IDEM-005")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_resent_compressed_batch_returns_original_offset_without_append(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two batches of three records in each codec; both are sent again, and then the next one is.

    The second topic stamps them with the time of the broker.
    """
    times = ("CreateTime", "LogAppendTime")
    topics = {one: broker.create_topic(configs={"message.timestamp.type": one}) for one in times}
    codecs = codecs_of(broker, api_version, with_none=False)
    with requirement("IDEM-005") as check:
        for (time, topic), codec in itertools.product(topics.items(), codecs):
            with check.subtest(f"{codec}, {time}"):
                producer, begin = new_producer(broker), broker.end_offset(topic)
                values = [b"a", b"b", b"c"]
                batches = [producer.batch(first, *values, codec=codec) for first in (0, 3, 6)]
                append(broker, topic, *batches[:2])
                for at in (0, 1, 2):
                    where, offset = f"{codec}, batch {at} once more", begin + 3 * at
                    _expect_at(broker, topic, batches[at], api_version, offset, where)
                end = broker.end_offset(topic)
                assert end == begin + 9, f"{codec}: the log ends at {end}, expected {begin + 9}"


@judges("IDEM-005")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_batches_of_another_producer_take_no_place_among_last_five(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Five batches of each of two producers, in turns; all ten are sent again."""
    topic, producers = broker.create_topic(), [new_producer(broker) for _ in range(2)]
    batches = [one.batch(at, b"in turns") for at in range(WINDOW) for one in producers]
    append(broker, topic, *batches)
    log = UntouchedLog(broker, topic)
    with requirement("IDEM-005") as check:
        for offset, batch in enumerate(batches):
            with check.subtest(f"the one at {offset}"):
                where = f"of ten batches of two producers the one at {offset} once more"
                _expect_at(broker, topic, batch, api_version, offset, where)
        log.expect_untouched("ten batches of two producers once more")


@judges("IDEM-006")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_resent_batch_older_than_last_five_is_refused_and_not_appended(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The sixth last and the seventh last batch."""
    topic, _, batches = _written(broker, *[1] * (WINDOW + 2))
    log = UntouchedLog(broker, topic)
    refusals = (ErrorCode.DUPLICATE_SEQUENCE_NUMBER, OUT_OF_ORDER)
    with requirement("IDEM-006") as check:
        for index in (1, 0):
            with check.subtest(f"batch {index}"):
                log.renew()
                code = broker.produce(topic, batches[index], api_version).error_code
                where = f"batch {index} of {len(batches)} once more"
                log.expect_untouched(where)
                assert code in refusals, (
                    f"{where}: error is {ErrorCode.describe(code)}, "
                    "expected DUPLICATE_SEQUENCE_NUMBER or OUT_OF_ORDER_SEQUENCE_NUMBER"
                )


@judges("IDEM-007")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_same_first_and_other_last_sequence_is_out_of_order_not_duplicate(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The first sequence of a batch that was stored, with a record more and with one less."""
    topic, producer, _ = _written(broker, 2, 2)
    log = UntouchedLog(broker, topic)
    with requirement("IDEM-007") as check:
        for first in (2, 0):
            for values in ([b"a", b"b", b"c"], [b"a"]):
                with check.subtest(f"{len(values)} records from sequence {first}"):
                    batch = producer.batch(first, *values)
                    where = f"{len(values)} records from sequence {first}, where two were sent"
                    log.expect_refusal(batch, api_version, OUT_OF_ORDER, where)


@judges("IDEM-008")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_lower_producer_epoch_returns_invalid_producer_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Also with the sequence that would be next, and with a batch that was stored before."""
    topic, producer, batches = _written(broker, 1)
    append(broker, topic, producer.at_epoch(2).batch(0, b"raised"))
    log = UntouchedLog(broker, topic)
    late = {
        "the next sequence at epoch 1": producer.at_epoch(1).batch(1, b"late"),
        "sequence 0 at epoch 1": producer.at_epoch(1).batch(0, b"late"),
        "a batch of epoch 0 once more": batches[0],
    }
    with requirement("IDEM-008") as check:
        for where, batch in late.items():
            with check.subtest(where):
                log.expect_refusal(batch, api_version, ErrorCode.INVALID_PRODUCER_EPOCH, where)


@judges("IDEM-009")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_higher_producer_epoch_must_start_at_sequence_0(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Neither with the next sequence nor with another one; then with 0."""
    topic, producer, _ = _written(broker, 2)
    raised = producer.at_epoch(1)
    log = UntouchedLog(broker, topic)
    with requirement("IDEM-009") as check:
        for sequence in (2, 5):
            with check.subtest(f"sequence {sequence}"):
                where = f"epoch 1, sequence {sequence}"
                log.expect_refusal(raised.batch(sequence, b"x"), api_version, OUT_OF_ORDER, where)
        batch = raised.batch(0, b"raised")
        _expect_at(broker, topic, batch, api_version, 2, "epoch 1, sequence 0")


@judges("IDEM-021")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_raised_epoch_is_appended_at_sequences_of_the_former_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three batches at epoch 0, and three at epoch 1 with the same sequences: six are stored."""
    topic, producer, _ = _written(broker, 1, 1, 1)
    raised = producer.at_epoch(1)
    with requirement("IDEM-021"):
        for sequence in range(3):
            batch = raised.batch(sequence, b"raised %d" % sequence)
            where = f"epoch 1, sequence {sequence}"
            _expect_at(broker, topic, batch, api_version, 3 + sequence, where)
        values = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        sent = [b"%s %d" % (what, n) for what in (b"record", b"raised") for n in range(3)]
        assert values == sent, f"the log holds {values}, sent were {sent}"


@judges("IDEM-010")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_sequence_wraps_to_0_after_2147483647(broker: BrokerUnderTest, api_version: int) -> None:
    """Behind a batch that ends at 2147483647, and behind one that has 0 for its last record.

    Not applicable where a producer has to start at 0: no test writes two thousand million records.
    """
    ends = {"at the last": (LAST_SEQUENCE - 1, 0), "behind the wrap": (LAST_SEQUENCE, 1)}
    for where, (first, following) in ends.items():
        topic, producer = broker.create_topic(), new_producer(broker)
        high = producer.batch(first, b"a", b"b")
        if broker.produce(topic, high).error_code != ErrorCode.NONE:
            raise NotApplicable("any_first_sequence", f"no producer may start at {first}")
        with requirement("IDEM-010"):
            right = producer.batch(following, b"c")
            told = f"two records, {where}, then {following}"
            _expect_at(broker, topic, right, api_version, 2, told)
            behind = producer.batch(following + 1, b"d")
            _expect_at(broker, topic, behind, api_version, 3, f"{told}, {following + 1}")
            again = f"two records, {where}, once more"
            expect_taken_again(broker.produce(topic, high, api_version).error_code, again)
            end = broker.end_offset(topic)
            assert end == 4, f"{again}: the log of 4 ends at {end}, expected 4"


@judges("IDEM-011")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_producer_id_with_negative_sequence_returns_invalid_record(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A producer id with sequence -1, which stands for none, and with the least there is."""
    topic, producer = broker.create_topic(), new_producer(broker)
    log = UntouchedLog(broker, topic)
    with requirement("IDEM-011") as check:
        for sequence in (-1, -(2**31)):
            with check.subtest(f"sequence {sequence}"):
                batch, where = producer.batch(sequence, b"x"), f"sequence {sequence}"
                log.expect_refusal(batch, api_version, ErrorCode.INVALID_RECORD, where)

"""PROD: a request for many partitions, with batches that the broker refuses."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC, internal_topic
from suites.protocol.support.partition_log import UntouchedLog

LIMIT_BYTES = 1000
GOOD = (0, 2, 4)
DAMAGED, TOO_LARGE, MISSING = 1, 3, 999
REFUSED = {
    DAMAGED: ErrorCode.CORRUPT_MESSAGE,
    TOO_LARGE: ErrorCode.MESSAGE_TOO_LARGE,
    MISSING: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


@judges("PROD-004")
@at_versions("Produce", "0-2", "3+")
def test_refused_batches_leave_other_partitions_of_request_alone(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Good batches around a damaged one, one that is too large, and a partition that is missing.

    Two topics, in both orders of the partitions.
    """
    limit = {"max.message.bytes": str(LIMIT_BYTES)}
    topics = [broker.create_topic(partitions=5, configs=limit) for _ in range(2)]
    order = [DAMAGED, 0, TOO_LARGE, 2, MISSING, 4]
    with requirement("PROD-004") as check:
        for name, indexes in (("a bad one first", order), ("a good one first", order[::-1])):
            with check.subtest(name):
                _expect_own_results(broker, topics, indexes, api_version)


def _expect_own_results(
    broker: BrokerUnderTest, topics: list[Topic], indexes: list[int], version: int
) -> None:
    """Each partition gets its own result, and only the good ones get their batch."""
    ends = {(at, one): broker.end_offset(topics[at], one) for at in range(2) for one in range(5)}
    request = produce_request(topics[0], b"", version)
    request.topic_data += produce_request(topics[1], b"", version).topic_data
    for entry in request.topic_data:
        entry.partition_data = [
            ProduceRequest.PartitionProduceData(index=one, records=_records(one, version))
            for one in indexes
        ]
    named = {entry.topic_id if entry.topic_id.int else entry.name: at
             for at, entry in enumerate(request.topic_data)}  # fmt: skip
    found = {}
    for answer in broker.ask(request, version).responses:
        at = named[answer.topic_id if answer.topic_id.int else answer.name]
        for one in answer.partition_responses:
            where = f"topic {at}, partition {one.index}"
            expected = REFUSED.get(one.index, ErrorCode.NONE)
            expect_error(one.error_code, expected, where)
            begin = ends[at, one.index] if one.index in GOOD else -1
            told = f"{where}: base offset {one.base_offset}, expected {begin}"
            assert one.base_offset == begin, told
            found[at, one.index] = one
    expected_keys = {(at, one) for at in range(2) for one in indexes}
    assert found.keys() == expected_keys, f"results of {sorted(found)}, not {sorted(expected_keys)}"
    for (at, index), end in ends.items():
        now, right = broker.end_offset(topics[at], index), end + (index in GOOD)
        where = f"topic {at}, partition {index}"
        assert now == right, f"{where}: the log ends at {now}, not at {right}"


@judges("PROD-008")
@at_versions("Produce", "0-2", "3+")
def test_invalid_acks_are_the_error_of_batches_with_other_faults(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A damaged batch, one that is too large, and one for an internal topic."""
    topic = broker.create_topic(partitions=5, configs={"max.message.bytes": str(LIMIT_BYTES)})
    with requirement("PROD-008") as check:
        for where, kind in (("damaged", DAMAGED), ("too large", TOO_LARGE)):
            with check.subtest(where):
                data = _records(kind, api_version)
                code = broker.produce(topic, data, api_version, acks=7).error_code
                expect_error(code, ErrorCode.INVALID_REQUIRED_ACKS, where)
        with check.subtest("internal topic"):
            internal, data = internal_topic(broker, OFFSETS_TOPIC), _records(0, api_version)
            code = broker.produce(internal, data, api_version, acks=7).error_code
            expect_error(code, ErrorCode.INVALID_REQUIRED_ACKS, "internal topic")
        end = broker.end_offset(topic)
        assert end == 0, f"all were refused, yet the log ends at {end}, expected 0"


@judges("PROD-009")
@at_versions("Produce", "0-2")
def test_message_set_above_max_message_bytes_returns_message_too_large(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One message above the limit, and many small ones: they are stored as one batch.

    A broker without batches stores the small ones one by one: it has no Fetch 4.
    """
    broker.version("Fetch", "4+")
    topic = broker.create_topic(configs={"max.message.bytes": str(LIMIT_BYTES)})
    log = UntouchedLog(broker, topic)
    sets = {"one message": [b"x" * LIMIT_BYTES], "many messages": [b"x" * 100] * 20}
    with requirement("PROD-009") as check:
        for where, values in sets.items():
            with check.subtest(where):
                data = batch_of(*values, version=api_version)
                log.expect_refusal(data, api_version, ErrorCode.MESSAGE_TOO_LARGE, where)
        fitting = batch_of(*[b"x" * 100] * 5, version=api_version)
        answer = broker.produce(topic, fitting, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "five messages, below the limit")


def _records(partition: int, version: int) -> bytes:
    """The batch for this partition."""
    size = LIMIT_BYTES if partition == TOO_LARGE else 10
    batch = bytearray(batch_of(b"x" * size, version=version))
    if partition == DAMAGED:
        batch[-5] ^= 1
    return bytes(batch)

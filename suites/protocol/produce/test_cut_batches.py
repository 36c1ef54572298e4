"""PROD: batches and messages with a length that is not theirs."""

from __future__ import annotations

import struct

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.idempotent import code_of
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.partition_log import UntouchedLog

UP_TO_LENGTH, UP_TO_MAGIC, HEADER = 12, 17, 61  # bytes of a batch
SHORTEST_MESSAGE = 14  # bytes behind the size, of the first format
REFUSALS = (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)


def _empty(broker: BrokerUnderTest) -> Topic:
    """A topic that stays empty at a broker that refuses what it should."""
    return broker.create_topic()


def _cut(whole: bytes) -> dict[str, bytes]:
    """The beginnings around each edge; the one that lacks the last byte of the header also such
    that its length fits. Of less of the header Kafka reads what is not there."""
    edges = (UP_TO_LENGTH, UP_TO_MAGIC, HEADER, len(whole))
    sizes = [1, *(size for edge in edges for size in (edge - 1, edge) if size < len(whole))]
    return {f"{size} bytes": whole[:size] for size in sizes} | {
        f"{HEADER - 1} bytes, and it says so": _with_length(whole[: HEADER - 1])
    }


def _with_length(batch: bytes) -> bytes:
    """The same bytes with their number in the field for it."""
    return batch[:8] + struct.pack(">i", len(batch) - UP_TO_LENGTH) + batch[UP_TO_LENGTH:]


@judges("PROD-028")
@at_versions("Produce", "3+")
def test_produce_with_cut_batch_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Cut around each edge of its header, and of one byte; also with a transactional id."""
    topic = kept.topic(broker, _empty)
    log = UntouchedLog(broker, topic)
    batches = _cut(batch_of(b"value"))
    with requirement("PROD-028") as check:
        for transactional_id in (None, broker.unique_topic()):
            for name, batch in batches.items():
                where = name if transactional_id is None else f"{name}, with a transactional id"
                with check.subtest(where):
                    log.renew()
                    request = produce_request(topic, batch, api_version)
                    request.transactional_id = transactional_id
                    code = code_of(broker.ask(request, api_version))
                    told = f"{where}: error is {ErrorCode.describe(code)}"
                    assert code in REFUSALS, f"{told}, expected CORRUPT_MESSAGE or INVALID_RECORD"
                    log.expect_untouched(where)


@judges("PROD-028")
@at_versions("Produce", "0-2")
def test_produce_of_message_with_invalid_size_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A size that is negative, or less than the shortest message has.

    Of a size beyond the bytes that came Kafka says nothing: it finds no message and is silent.
    """
    topic = kept.topic(broker, _empty)
    log = UntouchedLog(broker, topic)
    whole = batch_of(b"value", version=api_version)
    with requirement("PROD-028") as check:
        for size in (-1, -(2**31), 0, SHORTEST_MESSAGE - 1):
            where = f"size {size} of a message"
            with check.subtest(where):
                log.renew()
                message = whole[:8] + struct.pack(">i", size) + whole[UP_TO_LENGTH:]
                code = broker.produce(topic, message, api_version).error_code
                told = f"{where}: error is {ErrorCode.describe(code)}"
                assert code in REFUSALS, f"{told}, expected CORRUPT_MESSAGE or INVALID_RECORD"
                log.expect_untouched(where)

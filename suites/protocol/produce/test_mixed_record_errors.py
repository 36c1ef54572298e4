"""PROD: a batch with records that are wrong in different ways (KIP-467)."""

from __future__ import annotations

from itertools import permutations, product

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.partition_log import UntouchedLog

HOUR_MS = 3_600_000
GOOD = Record(b"value", b"k")
KEYLESS = Record(b"value", None)
TOO_NEW = Record(b"value", b"k", timestamp_delta=2 * HOUR_MS)


def _strict(broker: BrokerUnderTest) -> Topic:
    """A compacted topic that takes times up to an hour from now."""
    configs = {"cleanup.policy": "compact", "message.timestamp.after.max.ms": str(HOUR_MS)}
    return broker.create_topic(configs=configs)


@judges("PROD-029")
@at_versions("Produce", "8+")
def test_keyless_and_too_new_records_return_invalid_timestamp_and_are_all_listed(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A good record, one without a key and one of a time to come, in every order and in gzip."""
    topic = kept.topic(broker, _strict)
    log = UntouchedLog(broker, topic)
    names = {id(GOOD): "good", id(KEYLESS): "keyless", id(TOO_NEW): "too new"}
    with requirement("PROD-029") as check:
        orders = permutations((GOOD, KEYLESS, TOO_NEW))
        for records, codec in product(orders, ("none", "gzip")):
            where = ", ".join((*(names[id(record)] for record in records), codec))
            with check.subtest(where):
                data = encode_batch(RecordBatch(list(records), base_timestamp=now_ms()), codec)
                answer = broker.produce(topic, data, api_version)
                expect_error(answer.error_code, ErrorCode.INVALID_TIMESTAMP, where)
                bad = [place for place, record in enumerate(records) if record is not GOOD]
                listed = sorted(error.batch_index for error in answer.record_errors)
                assert listed == bad, f"{where}: record_errors lists {listed}"
        log.expect_untouched("records with different errors")

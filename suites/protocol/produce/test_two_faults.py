"""PROD: batches with two faults, of which one decides about the error."""

from __future__ import annotations

from dataclasses import replace

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import now_ms
from suites.protocol.support.partition_log import UntouchedLog

LIMIT = 400
WRONG_CHECKSUM = 0x1234_5678


def _batch(size: int, *, whole: bool = True, key: bytes | None = b"k", **header: int) -> bytes:
    """A batch of one record with a value of this size; not ``whole`` with a wrong checksum."""
    batch = RecordBatch([Record(bytes(size), key)], base_timestamp=now_ms())
    batch = replace(batch, **header)  # type: ignore[arg-type]
    return encode_batch(batch if whole else replace(batch, crc=WRONG_CHECKSUM))


@judges("PROD-031")
@at_versions("Produce", "3+")
def test_first_fault_of_batch_decides_about_the_error(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A batch that is too large, that has a wrong checksum, that lacks a key in a compacted topic,
    that counts more records than it has: each pair, and each fault alone."""
    configs = {"cleanup.policy": "compact", "max.message.bytes": str(LIMIT)}
    log = UntouchedLog(broker, broker.create_topic(configs=configs))
    too_large, damaged = ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.CORRUPT_MESSAGE
    batches = {
        "too large": (_batch(LIMIT), too_large),
        "a wrong checksum": (_batch(1, whole=False), damaged),
        "no key": (_batch(1, key=None), ErrorCode.INVALID_RECORD),
        "too large, a wrong checksum": (_batch(LIMIT, whole=False), too_large),
        "too large, no key": (_batch(LIMIT, key=None), too_large),
        "a wrong checksum, no key": (_batch(1, whole=False, key=None), damaged),
        "too large, two records of one": (_batch(LIMIT, record_count=2), too_large),
        "a wrong checksum, two records of one": (_batch(1, whole=False, record_count=2), damaged),
    }
    with requirement("PROD-031") as check:
        for name, (batch, expected) in batches.items():
            with check.subtest(name):
                log.expect_refusal(batch, api_version, expected, name)

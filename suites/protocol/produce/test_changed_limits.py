"""PROD: a topic that changes while it is in use decides anew which batches it takes."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import now_ms
from suites.protocol.support.config_admin import CHANGE_WITHIN_MS, TOPIC, replace_all
from suites.protocol.support.expect import expect_error

HOUR_MS = 60 * 60 * 1000
VALUE = b"within limits" * 40


class Limit(NamedTuple):
    """A config with the value that takes a batch and the one that refuses it.

    Each name has these values in some release; the first that the broker knows counts.
    """

    names: tuple[str, ...]
    takes: str
    refuses: str
    errors: tuple[ErrorCode, ...]


LIMITS = {
    "key": Limit(
        ("cleanup.policy",),
        "delete",
        "compact",
        (ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE),  # before 2.4
    ),
    "size": Limit(("max.message.bytes",), "1048588", "300", (ErrorCode.MESSAGE_TOO_LARGE,)),
    "time": Limit(
        ("message.timestamp.before.max.ms", "message.timestamp.difference.max.ms"),
        str(2 * HOUR_MS),
        "1000",
        (ErrorCode.INVALID_TIMESTAMP,),
    ),
}


def _topic_with(broker: BrokerUnderTest, limit: Limit) -> tuple[Topic, str]:
    """A topic that takes the batch, and the name of its limit."""
    *others, last = limit.names
    for name in others:
        try:
            return broker.create_topic(configs={name: limit.takes}), name
        except PreparationFailed as refused:
            if refused.error_code != ErrorCode.INVALID_CONFIG:
                raise
    return broker.create_topic(configs={last: limit.takes}), last


@judges("PROD-030")
@pytest.mark.parametrize("what", [*LIMITS])
@at_versions("Produce", "3-8", "9-12", "13+")
def test_changed_limit_holds_for_later_batches(
    broker: BrokerUnderTest, api_version: int, what: str
) -> None:
    """A batch without a key, of five hundred bytes, an hour old: taken, refused, taken."""
    limit = LIMITS[what]
    topic, name = _topic_with(broker, limit)
    batch = encode_batch(RecordBatch([Record(VALUE)], base_timestamp=now_ms() - HOUR_MS))

    def expect_after(value: str, *expected: ErrorCode) -> None:
        changed = replace_all(broker, (TOPIC, topic.name), {name: value})
        expect_error(changed, ErrorCode.NONE, f"a change to {name}={value}")
        found = broker.last_seen(code, expected.__contains__, CHANGE_WITHIN_MS)
        told = f"changed to {name}={value}: error is {ErrorCode.describe(found)}"
        assert found in expected, f"{told}, expected {expected[0].name}"

    def code() -> int:
        return broker.produce(topic, batch, api_version).error_code

    with requirement("PROD-030"):
        expect_error(code(), ErrorCode.NONE, f"{name}={limit.takes} at first")
        expect_after(limit.refuses, *limit.errors)
        expect_after(limit.takes, ErrorCode.NONE)

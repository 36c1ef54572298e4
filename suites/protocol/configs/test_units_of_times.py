"""CONF: static configs of brokers that say one time in hours, minutes or milliseconds."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    TOPIC,
    AlterOperation,
    Resource,
    change,
    expect_values,
    replace_all,
    set_key,
)
from suites.protocol.support.expect import expect_error

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
UNITS = {
    "log.retention.hours": "5",
    "log.retention.minutes": "7",
    "log.roll.hours": "3",
    "log.roll.ms": "9000000",
    "log.roll.jitter.hours": "2",
}
STATIC_TIMES = {
    "retention.ms": str(7 * MINUTE_MS),
    "segment.ms": "9000000",
    "segment.jitter.ms": str(2 * HOUR_MS),
}
ALL_BROKERS: Resource = (BROKER, "")
IN_MS, DYNAMIC = "log.retention.ms", "1234567"


@judges("CONF-045")
@needs_broker(Use.OWN, UNITS)
def test_smaller_unit_of_static_time_comes_before_larger_ones(broker: BrokerUnderTest) -> None:
    """Minutes before hours, milliseconds before hours, hours alone; then milliseconds that are set
    for all brokers, and deleted again."""
    topic = (TOPIC, broker.create_topic().name)
    with requirement("CONF-045"):
        expect_values(broker, topic, STATIC_TIMES, "static times")
        expect_error(set_key(broker, ALL_BROKERS, IN_MS, DYNAMIC), ErrorCode.NONE, IN_MS)
        dynamic = STATIC_TIMES | {"retention.ms": DYNAMIC}
        expect_values(broker, topic, dynamic, f"{IN_MS} for all brokers")
        expect_error(_delete(broker, IN_MS), ErrorCode.NONE, f"{IN_MS} deleted")
        expect_values(broker, topic, STATIC_TIMES, f"{IN_MS} deleted")


def _delete(broker: BrokerUnderTest, name: str) -> int:
    if broker.advertised("IncrementalAlterConfigs"):
        return change(broker, ALL_BROKERS, (name, AlterOperation.DELETE, None))
    return replace_all(broker, ALL_BROKERS, {})

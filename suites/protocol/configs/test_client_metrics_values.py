"""CONF: values of the configs of subscriptions to metrics of clients (KIP-714)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.config_admin import (
    CLIENT_METRICS,
    AlterOperation,
    change,
    expect_values,
)
from suites.protocol.support.expect import expect_error

INTERVAL, MATCH, METRICS = "interval.ms", "match", "metrics"
ACCEPTED = (
    (INTERVAL, "100"),
    (INTERVAL, "3600000"),
    (MATCH, "client_id=a.*"),
    (MATCH, "client_instance_id=b5.*,client_software_name = apache-kafka-java"),
    (MATCH, "client_software_version=3[.]7.*,client_source_address=127[.]0.*"),
    (MATCH, "client_source_port=[0-9]+"),
    (METRICS, ""),
    (METRICS, "org.apache.kafka.producer.,org.apache.kafka.consumer."),
)
REFUSED = (
    (INTERVAL, "99", ErrorCode.INVALID_REQUEST),
    (INTERVAL, "3600001", ErrorCode.INVALID_REQUEST),
    (INTERVAL, "-1", ErrorCode.INVALID_REQUEST),
    ("interval", "1000", ErrorCode.INVALID_REQUEST),
    (MATCH, "client_id", ErrorCode.INVALID_CONFIG),
    (MATCH, "client_id=", ErrorCode.INVALID_CONFIG),
    (MATCH, "client_id=a=b", ErrorCode.INVALID_CONFIG),
    (MATCH, "client_id=[a", ErrorCode.INVALID_CONFIG),
    (MATCH, "Client_id=a", ErrorCode.INVALID_CONFIG),
    (MATCH, "client_id=a,client_name=b", ErrorCode.INVALID_CONFIG),
)
KEPT = {INTERVAL: "60000", MATCH: "client_id=kept", METRICS: "org.apache.kafka.kept"}


@judges("CONF-033")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_client_metrics_config_accepts_documented_values(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Both limits of the interval, and each name that a pattern may have."""
    broker.version("ListConfigResources")
    with requirement("CONF-033") as check:
        for name, value in ACCEPTED:
            resource, where = (CLIENT_METRICS, broker.unique_topic()), f"{name}={value}"
            with check.subtest(where):
                code = change(
                    broker, resource, (name, AlterOperation.SET, value), version=api_version
                )
                expect_error(code, ErrorCode.NONE, where)
                expect_values(broker, resource, {name: value}, f"after {where}")


@judges("CONF-033")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_client_metrics_config_refuses_other_values(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each beside a good value; the subscription keeps what it had."""
    broker.version("ListConfigResources")
    resource = CLIENT_METRICS, broker.unique_topic()
    with requirement("CONF-033") as check:
        given = [(name, AlterOperation.SET, value) for name, value in KEPT.items()]
        expect_error(change(broker, resource, *given), ErrorCode.NONE, f"{KEPT} of {resource}")
        expect_values(broker, resource, KEPT, "before any bad value")
        for name, value, expected in REFUSED:
            good = INTERVAL if name == MATCH else MATCH
            changes = [
                (good, AlterOperation.SET, "50000" if good == INTERVAL else "client_id=other"),
                (name, AlterOperation.SET, value),
            ]
            with check.subtest(f"{name}={value}"):
                code = change(broker, resource, *changes, version=api_version)
                expect_error(code, expected, f"{name}={value}")
                expect_values(broker, resource, KEPT, f"after {name}={value}")


@judges("CONF-033")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_client_metrics_subscription_without_name_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """There are no configs of all subscriptions."""
    broker.version("ListConfigResources")
    with requirement("CONF-033"):
        changed = INTERVAL, AlterOperation.SET, KEPT[INTERVAL]
        code = change(broker, (CLIENT_METRICS, ""), changed, version=api_version)
        expect_error(code, ErrorCode.INVALID_REQUEST, "a subscription without a name")

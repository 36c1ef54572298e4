"""CONF: the configs of groups and of subscriptions to client metrics outlive restarts."""

from __future__ import annotations

from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListConfigResourcesRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.durability.support.restarts import KILLED, STOPPED, end
from suites.protocol.support.config_admin import (
    CLIENT_METRICS,
    GROUP,
    AlterOperation,
    Resource,
    change,
    expect_values,
    prepare_shown,
    values_of,
)
from suites.protocol.support.expect import expect_error

PARTITIONS = {"CONF-046": 46}
"""Number of partitions of the newest topic, by which a defect recognizes its test."""

CONFIGS = {
    CLIENT_METRICS: {"interval.ms": "60000", "metrics": "one.,two.", "match": "client_id=a.*"},
    GROUP: {"consumer.heartbeat.interval.ms": "6000", "consumer.session.timeout.ms": "50000"},
}
LATER = {CLIENT_METRICS: ("interval.ms", "70000"), GROUP: (next(iter(CONFIGS[GROUP])), "7000")}


def _listed(client: BrokerUnderTest) -> set[Resource]:
    answer = client.ask(ListConfigResourcesRequest(resource_types=[*CONFIGS]))
    expect_error(answer.error_code, ErrorCode.NONE, "ListConfigResources")
    return {(each.resource_type, each.resource_name) for each in answer.config_resources}


def _configured(client: BrokerUnderTest, kind: int, *, delete: bool = False) -> Resource:
    """Return a new resource with its configs; with ``delete`` they are removed again."""
    resource = kind, client.unique_topic()
    before = values_of(client, resource, [*CONFIGS[kind]])
    for wanted, operation in ((CONFIGS[kind], AlterOperation.SET), (before, AlterOperation.DELETE)):
        if operation is AlterOperation.DELETE and not delete:
            break
        changes = [(name, operation, value) for name, value in wanted.items()]
        expect_error(change(client, resource, *changes), ErrorCode.NONE, f"{operation.name}")
        prepare_shown(client, resource, dict(wanted))
    return resource


@judges("CONF-046")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_configs_of_groups_and_client_metrics_outlive_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Some that are set, some that are removed, and one that is changed between the restarts."""
    client = persistent_broker.client
    client.version("ListConfigResources", "1+")
    topic = client.create_topic(PARTITIONS["CONF-046"])
    kept = {_configured(client, kind): dict(CONFIGS[kind]) for kind in CONFIGS}
    gone = [_configured(client, kind, delete=True) for kind in CONFIGS]
    expected = {**kept, **{each: _values(client, each) for each in gone}}
    with requirement("CONF-046"):
        for when in (STOPPED, KILLED):
            end(persistent_broker, when)
            persistent_broker.start()
            await_back(client, topic)
            for resource, values in expected.items():
                expect_values(client, resource, values, f"{when} {resource}")
            missing = kept.keys() - _listed(client)
            assert not missing, f"{when} these are not listed: {missing}"
            for resource, values in kept.items():
                name, value = LATER[resource[0]]
                code = change(client, resource, (name, AlterOperation.SET, value))
                expect_error(code, ErrorCode.NONE, f"{when} {name}={value}")
                values[name] = value
                expect_values(client, resource, values, f"{when} once it is changed")


def _values(client: BrokerUnderTest, resource: Resource) -> Mapping[str, str | None]:
    return dict(values_of(client, resource, [*CONFIGS[resource[0]]]))

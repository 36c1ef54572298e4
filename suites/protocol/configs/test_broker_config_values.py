"""CONF: values of the configs of brokers that a change may have, and those that it may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.conformance.subtests import Check
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    AlterOperation,
    Resource,
    asked_broker,
    change,
    expect_values,
    replace_all,
    set_key,
    values_of,
)
from suites.protocol.support.expect import expect_error

ALL_BROKERS: Resource = (BROKER, "")
LATER, NAMED = "log.retention.ms", "log.retention.bytes"

# Of all configs that a running broker can change: values that it may have, then others.
AT_LIMITS = {
    "compression.type": "uncompressed",
    "log.cleaner.delete.retention.ms": "0",
    "log.cleaner.min.cleanable.ratio": "1.0",
    "log.cleaner.min.compaction.lag.ms": "0",
    "log.cleanup.policy": "compact,delete",
    "log.flush.interval.messages": "1",
    "log.index.interval.bytes": "0",
    "log.index.size.max.bytes": "4",
    "log.message.timestamp.type": "LogAppendTime",
    "log.preallocate": "true",
    "log.retention.bytes": "-1",
    "log.segment.delete.delay.ms": "0",
    "message.max.bytes": "0",
    "unclean.leader.election.enable": "true",
}
INVALID = {
    "background.threads": ("0",),
    "log.cleanup.policy": ("shred", "compact,shred", "Compact"),
    "log.flush.interval.messages": ("0",),
    "log.index.interval.bytes": ("-1",),
    "log.index.size.max.bytes": ("3",),
    "log.message.timestamp.type": ("Sometime", "createtime"),
    "log.preallocate": ("maybe", "1"),
    "log.retention.bytes": ("much",),
    "log.segment.delete.delay.ms": ("-1",),
    "message.max.bytes": ("-1", "2147483648"),
    "num.io.threads": ("0", "many"),
    "unclean.leader.election.enable": ("maybe",),
}
# Values that releases before 3.3 accept, for all brokers or for one as well.
INVALID_LATER = {
    "compression.type": ("GZIP", "brotli"),
    "log.cleaner.delete.retention.ms": ("-1",),
    "log.cleaner.min.cleanable.ratio": ("1.5", "-0.1"),
    "log.cleaner.min.compaction.lag.ms": ("-1",),
}
FIXED = {"broker.id": "99", "log.dirs": "elsewhere", "num.partitions": "7"}
OF_LISTENERS = {"ssl.keystore.type": "JKS"}
OF_ONE_BROKER = {"listener.name.plaintext.ssl.keystore.type": "JKS", "listeners": "PLAINTEXT://:1"}

POOLS = (
    "background.threads",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
)

Alter = Callable[[Resource, Mapping[str, str]], int]


@judges("CONF-028")
@needs_broker(Use.OWN)
@at_versions("AlterConfigs", "0", "1+")
def test_alter_configs_of_brokers_refuses_invalid_values(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """For one broker and for all, each beside a good value, which is not set either."""
    alter = _replaces(broker, api_version)
    with requirement("CONF-028") as check:
        _expect_limits(broker, check, alter)


@judges("CONF-028")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_of_brokers_refuses_invalid_values(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for single keys."""
    alter = _changes(broker, api_version)
    with requirement("CONF-028") as check:
        _expect_limits(broker, check, alter)


@judges("CONF-030")
@needs_broker(Use.OWN)
@at_versions("AlterConfigs", "0", "1+")
def test_alter_configs_of_brokers_refuses_invalid_values_of_cleaner(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of the configs that had no limits in older brokers."""
    alter = _replaces(broker, api_version)
    with requirement("CONF-030") as check:
        _expect_later_limits(broker, check, alter)


@judges("CONF-030")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_of_brokers_refuses_invalid_values_of_cleaner(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for single keys."""
    alter = _changes(broker, api_version)
    with requirement("CONF-030") as check:
        _expect_later_limits(broker, check, alter)


@judges("CONF-029")
@needs_broker(Use.OWN)
def test_threads_of_broker_change_to_half_and_double_at_most(broker: BrokerUnderTest) -> None:
    """To one more than double, to double; then to one less than half, and to half."""
    broker.version("AlterConfigs")
    own = asked_broker(broker)
    with requirement("CONF-029") as check:
        for name in POOLS:
            with check.subtest(name):
                threads = int(values_of(broker, own, [name])[name] or "")
                for number, accepts in (
                    (2 * threads + 1, False),
                    (2 * threads, True),
                    (threads - 1, False),
                    (threads, True),
                ):
                    code = set_key(broker, own, name, str(number))
                    expected = ErrorCode.NONE if accepts else ErrorCode.INVALID_REQUEST
                    expect_error(code, expected, f"{name} from {threads} to {number}")
                    threads = number if accepts else threads
                    expect_values(broker, own, {name: str(threads)}, f"{name} to {number}")


def _replaces(broker: BrokerUnderTest, version: int) -> Alter:
    def alter(resource: Resource, values: Mapping[str, str]) -> int:
        kept = {"min.insync.replicas": "1"} if resource == ALL_BROKERS else {}  # KIP-966
        return replace_all(broker, resource, {**values, **kept}, version)

    return alter


def _changes(broker: BrokerUnderTest, version: int) -> Alter:
    def alter(resource: Resource, values: Mapping[str, str]) -> int:
        changes = [(name, AlterOperation.SET, value) for name, value in values.items()]
        return change(broker, resource, *changes, version=version)

    return alter


def _pairs(values: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, each in values.items() for value in each]


def _refused(resource: Resource) -> list[tuple[str, str]]:
    of_one = OF_ONE_BROKER if resource == ALL_BROKERS else {}
    return [*_pairs(INVALID), *FIXED.items(), *OF_LISTENERS.items(), *of_one.items()]


def _expect_limits(broker: BrokerUnderTest, check: Check, alter: Alter) -> None:
    for resource in (asked_broker(broker), ALL_BROKERS):
        _expect_refused(broker, check, alter, resource, _refused(resource))
        _expect_accepted(broker, check, alter, resource)


def _expect_later_limits(broker: BrokerUnderTest, check: Check, alter: Alter) -> None:
    for resource in (asked_broker(broker), ALL_BROKERS):
        _expect_refused(broker, check, alter, resource, _pairs(INVALID_LATER))


def _expect_refused(
    broker: BrokerUnderTest,
    check: Check,
    alter: Alter,
    resource: Resource,
    refused: Sequence[tuple[str, str]],
) -> None:
    of = f"of {resource[1] or 'all brokers'}"
    for name, value in refused:
        with check.subtest(f"{name}={value} {of}"):
            code = alter(resource, {NAMED: "5000000000", name: value})
            expect_error(code, ErrorCode.INVALID_REQUEST, f"{name}={value} {of}")
    with check.subtest(f"values after refused changes {of}"):
        expect_error(alter(resource, {LATER: "3000000"}), ErrorCode.NONE, f"{LATER} {of}")
        expected = {LATER: "3000000", NAMED: "-1"}
        expect_values(broker, asked_broker(broker), expected, f"refused changes {of}")


def _expect_accepted(
    broker: BrokerUnderTest, check: Check, alter: Alter, resource: Resource
) -> None:
    of = f"of {resource[1] or 'all brokers'}"
    for name, value in AT_LIMITS.items():
        with check.subtest(f"{name}={value} {of}"):
            expect_error(alter(resource, {name: value}), ErrorCode.NONE, f"{name}={value} {of}")
            what = f"once {name}={value} {of}"
            expect_values(broker, asked_broker(broker), {name: value}, what)

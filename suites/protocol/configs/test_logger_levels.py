"""CONF: the levels of a broker's loggers."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.config_admin import (
    BROKER_LOGGER,
    AlterOperation,
    asked_broker,
    change,
    describe,
    replace_all,
)
from suites.protocol.support.expect import expect_error

NO_LOGGER = "no.such.logger"
LEVELS = ("FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "OFF", "ALL")


@judges("CONF-031")
@at_versions("IncrementalAlterConfigs")
def test_changes_of_logger_levels_that_cannot_be_are_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """No operation on lists, no other broker, no name that is no id."""
    _, own = asked_broker(broker)
    other = str(broker.own_id() + 9_000)
    with requirement("CONF-031") as check:
        for broker_id, operation in (
            (own, AlterOperation.APPEND),
            (own, AlterOperation.SUBTRACT),
            (other, AlterOperation.SET),
            (other, AlterOperation.DELETE),
            ("one", AlterOperation.SET),
        ):
            where = f"{operation.name} of {NO_LOGGER} of broker {broker_id}"
            with check.subtest(where):
                code = _change_level(broker, broker_id, operation, api_version)
                expect_error(code, ErrorCode.INVALID_REQUEST, where)


@judges("CONF-032")
@at_versions("IncrementalAlterConfigs")
def test_change_of_level_of_unknown_logger_returns_invalid_config(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A level is set, or removed."""
    _, own = asked_broker(broker)
    with requirement("CONF-032") as check:
        for operation in (AlterOperation.SET, AlterOperation.DELETE):
            with check.subtest(operation.name):
                code = _change_level(broker, own, operation, api_version)
                expect_error(code, ErrorCode.INVALID_CONFIG, f"{operation.name} of {NO_LOGGER}")


def _change_level(
    broker: BrokerUnderTest, broker_id: str, operation: AlterOperation, version: int
) -> int:
    level = None if operation is AlterOperation.DELETE else "DEBUG"
    return change(
        broker, (BROKER_LOGGER, broker_id), (NO_LOGGER, operation, level), version=version
    )


@judges("CONF-031")
@at_versions("AlterConfigs", "0", "1+")
def test_alter_configs_of_logger_levels_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """They can only be changed one by one."""
    broker.version("IncrementalAlterConfigs")
    _, own = asked_broker(broker)
    with requirement("CONF-031"):
        code = replace_all(broker, (BROKER_LOGGER, own), {NO_LOGGER: "DEBUG"}, api_version)
        expect_error(code, ErrorCode.INVALID_REQUEST, "AlterConfigs of a logger")


@judges("CONF-031")
@at_versions("DescribeConfigs")
def test_describe_configs_returns_logger_levels_of_asked_broker(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each with a level; none for a name that no logger has; other brokers are refused."""
    broker.version("IncrementalAlterConfigs")
    _, own = asked_broker(broker)
    other = str(broker.own_id() + 9_000)
    with requirement("CONF-031") as check:
        with check.subtest("all loggers"):
            shown = describe(broker, (BROKER_LOGGER, own), api_version)
            expect_error(shown.error_code, ErrorCode.NONE, "loggers of this broker")
            levels = {one.name: one.value for one in shown.configs}
            wrong = {name: level for name, level in levels.items() if level not in LEVELS}
            assert not wrong, f"these loggers have no level: {wrong}"
        with check.subtest("no logger"):
            shown = describe(broker, (BROKER_LOGGER, own), api_version, [NO_LOGGER])
            expect_error(shown.error_code, ErrorCode.NONE, "an unknown logger")
            names = [one.name for one in shown.configs]
            assert names == [], f"asked for {NO_LOGGER}, shown are {names}"
        for broker_id in (other, "one"):
            with check.subtest(f"broker {broker_id}"):
                shown = describe(broker, (BROKER_LOGGER, broker_id), api_version)
                expect_error(shown.error_code, ErrorCode.INVALID_REQUEST, f"broker {broker_id}")

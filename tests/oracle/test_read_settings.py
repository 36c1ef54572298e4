"""The settings of a specification that is like a broker elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from harness.base.address import Address
from harness.base.authorizers import STANDARD
from harness.client.broker import BrokerUnderTest
from harness.conformance.outcome import NotApplicable
from harness.oracle.read_settings import identity_of, read_settings
from harness.oracle.specification import Specification
from harness.targets.asking import ask_api_versions

TIMEOUT_MS = 5_000
DESCRIBE_CONFIGS = 32


def settings_of(given: Mapping[str, str], without: int | None = None) -> dict[str, str]:
    """The settings that a broker with the given ones shows; ``without``: an API key."""
    with Specification("", given) as broker:
        served = ask_api_versions(broker.address, TIMEOUT_MS)
        served.pop(without or -1, None)
        client = BrokerUnderTest([Address(*broker.address)], served)
        try:
            return read_settings(client)
        finally:
            client.close()


def test_given_settings_are_read_and_defaults_are_not() -> None:
    given = {"node.id": "7", "num.partitions": "3", "log.retention.ms": "86400000"}
    assert settings_of(given) == given


def test_the_security_of_a_listener_is_not_read() -> None:
    """As it stands, the specification would want a certificate that is elsewhere."""
    own = {"node.id": "7", "num.partitions": "3"}
    of_doors = {
        "authorizer.class.name": STANDARD,
        "super.users": "User:ANONYMOUS",
        "ssl.client.auth": "required",
        "sasl.enabled.mechanisms": "PLAIN",
        "delegation.token.expiry.time.ms": "3600000",
    }
    assert settings_of({**own, **of_doors}) == own


def test_id_and_rack_of_broker_are_read_without_described_configs() -> None:
    with Specification("", {"node.id": "7", "broker.rack": "r"}) as broker:
        served = ask_api_versions(broker.address, TIMEOUT_MS)
        served.pop(DESCRIBE_CONFIGS)
        client = BrokerUnderTest([Address(*broker.address)], served)
        try:
            assert identity_of(client) == {"node.id": "7", "broker.rack": "r"}
        finally:
            client.close()


def test_broker_that_does_not_show_its_settings_is_not_applicable() -> None:
    with pytest.raises(NotApplicable, match="settings are not known"):
        settings_of({}, without=DESCRIBE_CONFIGS)

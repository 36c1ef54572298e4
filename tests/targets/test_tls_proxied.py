"""A secured target behind proxies at which TLS ends: rules strike, clients keep their security."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest

from harness.client.connection import Connection
from harness.client.errors import EntryRefused
from harness.codec.messages import MetadataRequest
from harness.proxies.rules import responses
from harness.security.doors import Door, close_door, open_door
from harness.security.reading import read_settings
from harness.security.settings import Mechanism, SecurityProtocol
from harness.targets.errors import TargetError
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.reference import ReferenceBroker
from harness.targets.run_security import WantedSecurity
from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.authentication.conftest import settings_of

WAYS = {
    "ssl": WantedSecurity(SecurityProtocol.SSL),
    "sasl_ssl": WantedSecurity(SecurityProtocol.SASL_SSL, Mechanism.SCRAM_SHA_256),
}
THROTTLED_MS = 777


@pytest.fixture(scope="module", params=list(WAYS))
def secured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReferenceBroker]:
    folder = tmp_path_factory.mktemp(request.param)
    with ReferenceBroker(log_dir=folder, security=WAYS[request.param]) as target:
        yield target


@pytest.fixture
def behind(secured: ReferenceBroker, tmp_path: Path) -> Iterator[ProxiedTarget]:
    with proxied(secured, ends_tls=tmp_path / "authority.pem") as found:
        yield found
        assert [proxy.errors for proxy in found.proxies if proxy.errors] == []


def client_settings(behind: ProxiedTarget, authority: str) -> dict[str, str]:
    """The settings of a client that trusts this authority; it has no certificate."""
    assert isinstance(behind.target, ReferenceBroker)
    given = settings_of(behind.target)
    kept = ("security.protocol", "sasl.mechanism", "sasl.username", "sasl.password")
    return {name: given[name] for name in kept if name in given} | {"ssl.ca.location": authority}


def door(behind: ProxiedTarget, authority: str, folder: Path) -> Door:
    file = folder / "client.properties"
    lines = client_settings(behind, authority).items()
    file.write_text("".join(f"{name}={value}\n" for name, value in lines))
    return Door(read_settings(file))


def test_a_rule_changes_one_answer_and_no_other(behind: ProxiedTarget, tmp_path: Path) -> None:
    rule = responses("Metadata").nth(2).rewrite({"throttle_time_ms": THROTTLED_MS})
    fault = behind.arm(rule)
    entered = door(behind, str(behind.authority), tmp_path)
    open_door(entered, behind.addresses)
    try:
        with Connection(behind.addresses[0]) as connection:
            answers = [connection.ask(MetadataRequest(topics=[]), 9) for _ in range(3)]
    finally:
        close_door(entered)
    assert [one.throttle_time_ms for one in answers] == [0, THROTTLED_MS, 0]
    (broker,) = answers[0].brokers
    assert (broker.host, broker.port) == behind.addresses[0]
    behind.expect_fired(fault)


def test_the_authority_of_the_broker_is_not_that_of_the_proxies(
    behind: ProxiedTarget, secured: ReferenceBroker, tmp_path: Path
) -> None:
    entered = door(behind, settings_of(secured)["ssl.truststore.location"], tmp_path)
    open_door(entered, behind.addresses)
    try:
        with pytest.raises(EntryRefused, match="not trusted"):
            Connection(behind.addresses[0])
    finally:
        close_door(entered)


def test_librdkafka_writes_and_reads_through_a_refused_produce(behind: ProxiedTarget) -> None:
    refused = behind.refuse_requests("Produce", error="NOT_LEADER_OR_FOLLOWER", first=1)
    topic, problems = "through-tls", list[object]()
    settings = {"bootstrap.servers": behind.bootstrap}
    settings |= client_settings(behind, str(behind.authority))
    producer = confluent_kafka.Producer(settings)
    producer.produce(topic, b"one", on_delivery=lambda error, _: problems.append(error))
    assert producer.flush(HANGS_AFTER_S) == 0
    assert problems == [None]
    consumer = confluent_kafka.Consumer(
        {**settings, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe([topic])
        assert _first(consumer) == b"one"
    finally:
        consumer.close()
    behind.expect_fired(refused)


def _first(consumer: confluent_kafka.Consumer) -> bytes | None:
    deadline = time.monotonic() + HANGS_AFTER_S
    while time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            return message.value()
    return None


def test_a_wrong_password_is_refused_by_the_broker_behind(
    behind: ProxiedTarget, tmp_path: Path
) -> None:
    settings = client_settings(behind, str(behind.authority))
    if "sasl.password" not in settings:
        settings["security.protocol"] = "SASL_SSL"  # of a listener without SASL
        settings |= {"sasl.mechanism": "PLAIN", "sasl.username": "judge"}
    file = tmp_path / "wrong.properties"
    settings["sasl.password"] = "wrong"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    entered = Door(read_settings(file))
    open_door(entered, behind.addresses)
    try:
        with pytest.raises(EntryRefused):
            Connection(behind.addresses[0])
    finally:
        close_door(entered)


def test_a_target_without_tls_has_none_that_could_end(tmp_path: Path) -> None:
    target = ReferenceBroker(log_dir=tmp_path)
    with target, pytest.raises(TargetError, match="has no TLS that could end at a proxy"):
        with proxied(target, ends_tls=tmp_path / "authority.pem"):
            raise AssertionError("no proxy may stand before it")

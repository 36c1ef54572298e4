"""Targets with TLS or SASL on their listener: the run makes certificates and a user, and enters."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.entrance import Entrance
from harness.client.errors import BrokerMisbehaved
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeConfigsRequest, MetadataRequest
from harness.security.doors import door_at
from harness.targets.errors import TargetError
from harness.targets.info import TargetInfo, probe
from harness.targets.spec import parse_target
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.principals import ordinary_user
from suites.protocol.support.rights import Right, give, take_all
from suites.protocol.support.transactional import TxnProducer
from tests.targets import kinds

SPECS = (
    "reference,security=ssl",
    "reference,security=sasl_plaintext,mechanism=PLAIN",
    "reference,security=sasl_plaintext,mechanism=SCRAM-SHA-256",
    "reference,security=sasl_ssl,mechanism=SCRAM-SHA-512",
)
BROKER = 4
"""The resource type of DescribeConfigs."""


def entered_without_settings(address: Address) -> bool:
    """True if Metadata is answered on a plain socket."""
    door = door_at(address)
    assert door is not None
    from harness.security import doors

    doors.close_door(door)
    try:
        with Connection(address, timeout_ms=3000) as connection:
            connection.ask(MetadataRequest(topics=[]), 4)
    except BrokerMisbehaved:
        return False
    else:
        return True
    finally:
        doors.open_door(door, [address])


@pytest.mark.parametrize("spec", SPECS)
def test_a_secured_broker_is_entered_by_the_runs_own_settings_only(
    spec: str, tmp_path: Path
) -> None:
    with parse_target(spec, log_dir=tmp_path) as target:
        assert target.spec == spec
        (address,) = target.addresses
        assert target.secured is not None
        assert target.secured.protocol.has_sasl is ("sasl" in spec)
        assert TargetInfo.from_json(probe(target).to_json()).secured == target.secured
        file = Path(target.secured.file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "security=" + spec.split("=")[1].split(",", maxsplit=1)[0] in target.spec
        assert not entered_without_settings(address)
    assert door_at(address) is None
    assert not file.parent.exists()


def test_a_private_broker_has_certificates_and_a_user_of_its_own(tmp_path: Path) -> None:
    with parse_target(SPECS[3], log_dir=tmp_path) as target:
        with target.start_another({"connections.max.reauth.ms": "60000"}) as other:
            assert target.secured is not None
            assert other.secured is not None
            assert Path(other.secured.file).read_text() != Path(target.secured.file).read_text()
            Entrance(other.addresses[0]).enter(5000).close()
        Entrance(target.addresses[0]).enter(5000).close()


def test_the_password_is_in_no_command_line_no_log_and_no_config(tmp_path: Path) -> None:
    with parse_target(SPECS[3], log_dir=tmp_path) as target:
        assert target.secured is not None
        lines = Path(target.secured.file).read_text().splitlines()
        password = next(line for line in lines if line.startswith("sasl.password=")).split("=")[1]
        assert len(password) >= 20
        words = [
            word
            for process in psutil.Process().children(recursive=True)
            for word in process.cmdline()
        ]
        assert words
        assert not [word for word in words if password in word]
        with Connection(target.addresses[0]) as connection:
            resource = DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=BROKER, resource_name="1", configuration_keys=None
            )
            answer = connection.ask(DescribeConfigsRequest(resources=[resource]), 4)
            (result,) = answer.results
            shown = {each.name: each for each in result.configs}
            assert shown["sasl.jaas.config"].value is None
            assert shown["sasl.jaas.config"].is_sensitive
    for log in tmp_path.rglob("*"):
        assert password.encode() not in log.read_bytes()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("security=tls", "no such value"),
        ("security=ssl,mechanism=PLAIN", "contradicts"),
        ("mechanism=PLAIN", "needs security="),
        ("security=sasl_ssl,mechanism=GSSAPI", "no such value"),
    ],
)
@pytest.mark.parametrize("kind", ["reference,", "kafka:4.4.0,"])
def test_options_that_contradict_each_other_are_refused(
    kind: str, options: str, problem: str
) -> None:
    with pytest.raises(TargetError, match=problem):
        parse_target(kind + options)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("authorizer=off", "no such value"),
        ("security=ssl,mechanism=PLAIN,authorizer=on", "contradicts"),
        ("mechanism=GSSAPI,authorizer=on", "no such value"),
    ],
)
@pytest.mark.parametrize("kind", ["reference", "kafka:4.4.0"])
def test_an_authorizer_without_users_is_refused(kind: str, options: str, problem: str) -> None:
    with pytest.raises(TargetError, match=problem):
        parse_target(f"{kind},{options}")


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ("authorizer=on", "security=sasl_plaintext,mechanism=PLAIN,authorizer=on"),
        (
            "authorizer=on,security=ssl",
            "security=ssl,authorizer=on",
        ),
        (
            "authorizer=on,security=sasl_ssl",
            "security=sasl_ssl,mechanism=SCRAM-SHA-512,authorizer=on",
        ),
        (
            "mechanism=SCRAM-SHA-256,authorizer=on",
            "security=sasl_plaintext,mechanism=SCRAM-SHA-256,authorizer=on",
        ),
    ],
)
def test_an_authorizer_brings_a_listener_with_users(options: str, meant: str) -> None:
    target = parse_target(f"kafka:4.4.0,{options}")
    assert target.spec == f"kafka:4.4.0,{meant}"
    assert parse_target(target.spec).spec == target.spec


def test_a_kafka_before_requests_for_users_is_refused() -> None:
    with pytest.raises(TargetError, match=r"from Kafka 2\.7 on"):
        parse_target("kafka:2.0.1,security=ssl")


def test_a_kraft_without_users_of_scram_is_refused() -> None:
    with pytest.raises(TargetError, match=r"from Kafka 3\.5 on"):
        parse_target("kafka:3.4.1,mode=kraft,security=sasl_ssl")
    parse_target("kafka:3.4.1,mode=kraft,security=ssl")


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("release", ["4.4.0", "2.8.2"])
@pytest.mark.parametrize("options", ["security=ssl", "security=sasl_ssl,mechanism=SCRAM-SHA-512"])
def test_a_secured_kafka_is_entered_by_the_runs_own_settings_only(
    release: str, options: str, tmp_path: Path
) -> None:
    kinds.need_kafka()
    with parse_target(f"kafka:{release},{options}", log_dir=tmp_path) as target:
        assert target.spec == f"kafka:{release},{options}"
        assert not entered_without_settings(target.addresses[0])
        Entrance(target.addresses[0]).enter(5000).close()


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("release", ["4.4.0", "3.9.2,mode=zk", "2.8.2"])
def test_another_user_than_the_runs_own_needs_a_right(release: str, tmp_path: Path) -> None:
    """A user that the test adds finds no topic, which the user of the run finds."""
    kinds.need_kafka()
    with parse_target(f"kafka:{release},authorizer=on", log_dir=tmp_path) as target:
        broker = BrokerUnderTest(target.addresses, probe(target).api_versions)
        name = broker.create_topic().name
        request = MetadataRequest(
            topics=[MetadataRequest.MetadataRequestTopic(name=name)],
            allow_auto_topic_creation=False,
        )
        with closing(broker), ordinary_user(broker) as user:
            (found,) = broker.ask(request, 4).topics
            assert found.error_code == ErrorCode.NONE
            (found,) = user.ask(request, 4).topics
            assert found.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
            give(broker, user.principal, [Right(Operation.DESCRIBE, Resource.TOPIC, name)])
            (found,) = user.ask(request, 4).topics
            assert found.error_code == ErrorCode.NONE
            take_all(broker, user.principal)
            (found,) = user.ask(request, 4).topics
            assert found.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("release", ["4.4.0", "3.9.2,mode=kraft", "3.9.2,mode=zk"])
def test_a_broker_with_an_authorizer_may_end_transactions(release: str, tmp_path: Path) -> None:
    """It writes their markers by requests to itself, which need a right of its own user."""
    kinds.need_kafka()
    with parse_target(f"kafka:{release},authorizer=on", log_dir=tmp_path) as target:
        broker = BrokerUnderTest(target.addresses, probe(target).api_versions)
        with closing(broker):
            topic = broker.create_topic()
            producer = TxnProducer(broker, "with an authorizer")
            producer.write(topic, b"ended")
            producer.finish(commit=True)
            assert broker.end_offset(topic) == 2

"""TLS: certificates of clients, and the users that they stand for."""

from __future__ import annotations

from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest
from harness.client.tls_clients import Certificate
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker, needs_listener
from suites.protocol.support.acl_terms import Operation
from suites.protocol.support.bindings import Binding, bound
from suites.protocol.support.expect import expect_error
from suites.protocol.support.permissions.forms import listing_code
from suites.protocol.support.principals import Principal
from suites.protocol.support.rights import require_acls
from suites.protocol.support.tls import (
    NOT_REQUESTED,
    REQUESTED,
    REQUIRED,
    clients_by_certificate,
    entered,
)

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
LOWER, UPPER = "other.protocol", "PROTOCOL-OTHER"
"""The users of the other certificate by the rules of ``REQUIRED`` and ``REQUESTED``."""


def _judge_clients(broker: BrokerUnderTest, served: Mapping[Certificate, bool]) -> None:
    clients = clients_by_certificate(broker)
    with requirement("TLS-002") as check:
        for certificate, is_served in served.items():
            with check.subtest(certificate.value):
                found = entered(broker, clients.showing(certificate))
                told = "is served" if found else "is refused"
                assert bool(found) is is_served, f"a client with {certificate} {told}"


@judges("TLS-002")
@needs_listener(tls=True)
@needs_broker(Use.TUNED, REQUIRED)
def test_a_required_certificate_has_to_be_trusted(broker: BrokerUnderTest) -> None:
    """None, and one of another authority with the same name, are refused."""
    _judge_clients(
        broker,
        {
            Certificate.NONE: False,
            Certificate.UNTRUSTED: False,
            Certificate.OTHER: True,
            Certificate.OWN: True,
        },
    )


@judges("TLS-002")
@needs_listener(tls=True)
@needs_broker(Use.TUNED, REQUESTED)
def test_a_requested_certificate_may_be_missing(broker: BrokerUnderTest) -> None:
    """One that is shown has to be trusted."""
    _judge_clients(
        broker,
        {
            Certificate.NONE: True,
            Certificate.UNTRUSTED: False,
            Certificate.OTHER: True,
            Certificate.OWN: True,
        },
    )


@judges("TLS-002")
@needs_listener(tls=True)
@needs_broker(Use.TUNED, NOT_REQUESTED)
def test_without_a_request_for_certificates_every_client_is_served(
    broker: BrokerUnderTest,
) -> None:
    """Also one that has a certificate of another authority."""
    _judge_clients(broker, dict.fromkeys(Certificate, True))


def _judge_user(broker: BrokerUnderTest, name: str) -> None:
    """The other certificate stands for this user, and for no other."""
    clients = clients_by_certificate(broker)
    require_acls(broker)
    topic, version = broker.create_topic(), broker.version("ListOffsets", "1-7")
    whole = clients.other_name
    wrong = {whole, whole.partition(",OU=")[0], whole.lower(), LOWER, UPPER, "late", "ANONYMOUS"}
    wrong -= {name}
    with requirement("TLS-003") as check:
        connection = broker.connect(door=clients.showing(Certificate.OTHER))
        user = Principal(broker, name, connection)
        with check.subtest("no entry"):
            expect_error(listing_code(user, topic, version), REFUSED, "no entry")
        with check.subtest("entries of other names"):
            entries = [
                Binding(topic.name, f"User:{each}", Operation.DESCRIBE) for each in sorted(wrong)
            ]
            with bound(broker, *entries):
                expect_error(listing_code(user, topic, version), REFUSED, "entries of other names")
        with check.subtest("an entry of its name"):
            with bound(broker, Binding(topic.name, user.principal, Operation.DESCRIBE)):
                expect_error(listing_code(user, topic, version), ErrorCode.NONE, name)
            expect_error(listing_code(user, topic, version), REFUSED, "the entry is gone")


@judges("TLS-003")
@needs_listener(tls=True)
def test_the_user_of_a_certificate_is_its_whole_subject(broker: BrokerUnderTest) -> None:
    """In the order and with the escapes of RFC 2253."""
    _judge_user(broker, clients_by_certificate(broker).other_name)


@judges("TLS-003")
@needs_listener(tls=True)
@needs_broker(Use.TUNED, REQUIRED)
def test_the_first_rule_that_matches_maps_the_subject(broker: BrokerUnderTest) -> None:
    """To small letters; a rule before it does not match, and one behind it would."""
    _judge_user(broker, LOWER)


@judges("TLS-003")
@needs_listener(tls=True)
@needs_broker(Use.TUNED, REQUESTED)
def test_a_rule_maps_the_subject_to_capital_letters(broker: BrokerUnderTest) -> None:
    """Its groups in another order."""
    _judge_user(broker, UPPER)

"""TLS: versions, cipher suites, and the certificate of the listener."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.tls_clients import CertificateOfAnother
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker, needs_listener
from suites.protocol.support.tls import NOT_REQUESTED, REQUESTED, tls_clients_of

TIMEOUT_MS = 10_000
OBSOLETE = ("TLSv1", "TLSv1.1")
OTHER_CIPHERS = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"
"""OpenSSL's names of suites that the setting does not have, and of the one that it has."""
ALLOWED_CIPHER = "ECDHE-ECDSA-AES256-GCM-SHA384"
ELSEWHERE = "broker.invalid"
"""A name of no host (RFC 2606)."""


def _spoken(broker: BrokerUnderTest, version: str, ciphers: str = "") -> str | None:
    clients = tls_clients_of(broker)
    door = clients.speaking(version, ciphers=ciphers)
    return clients.handshake(broker.address, door, broker.scaled_ms(TIMEOUT_MS))


@judges("TLS-004")
@needs_listener(tls=True)
def test_obsolete_versions_are_refused(broker: BrokerUnderTest) -> None:
    """TLS 1.0 and 1.1; 1.2 and 1.3 are spoken."""
    tls_clients_of(broker)
    with requirement("TLS-004") as check:
        for version in OBSOLETE:
            with check.subtest(version):
                assert _spoken(broker, version) is None, f"{version} is spoken"
        for version in ("TLSv1.2", "TLSv1.3"):
            with check.subtest(version):
                assert _spoken(broker, version) == version, f"{version} is not spoken"


@judges("TLS-004")
@needs_listener(tls=True)
@needs_broker(Use.TUNED, NOT_REQUESTED)
def test_an_older_version_than_the_enabled_one_is_refused(broker: BrokerUnderTest) -> None:
    """`ssl.enabled.protocols` is TLSv1.3."""
    tls_clients_of(broker)
    with requirement("TLS-004") as check:
        with check.subtest("TLSv1.2"):
            assert _spoken(broker, "TLSv1.2") is None, "TLSv1.2 is spoken"
        with check.subtest("TLSv1.3"):
            assert _spoken(broker, "TLSv1.3") == "TLSv1.3", "TLSv1.3 is not spoken"


@judges("TLS-004")
@needs_listener(tls=True)
@needs_broker(Use.TUNED, REQUESTED)
def test_another_version_and_another_suite_than_the_enabled_ones_are_refused(
    broker: BrokerUnderTest,
) -> None:
    """`ssl.enabled.protocols` is TLSv1.2, and `ssl.cipher.suites` has one suite."""
    tls_clients_of(broker)
    with requirement("TLS-004") as check:
        with check.subtest("TLSv1.3"):
            assert _spoken(broker, "TLSv1.3") is None, "TLSv1.3 is spoken"
        with check.subtest("other suites"):
            found = _spoken(broker, "TLSv1.2", OTHER_CIPHERS)
            assert found is None, "suites that are not enabled are spoken"
        with check.subtest("the suite"):
            found = _spoken(broker, "TLSv1.2", f"{OTHER_CIPHERS}:{ALLOWED_CIPHER}")
            assert found == "TLSv1.2", "the enabled suite is not spoken"


@judges("TLS-004")
@needs_listener(tls=True)
def test_the_certificate_is_for_the_advertised_host(broker: BrokerUnderTest) -> None:
    """And for no host that does not exist."""
    clients = tls_clients_of(broker)
    door, timeout_ms = clients.speaking(), broker.scaled_ms(TIMEOUT_MS)
    with requirement("TLS-004") as check:
        brokers = broker.ask(MetadataRequest(topics=[])).brokers
        assert brokers, "Metadata lists no broker"
        for one in brokers:
            with check.subtest(f"broker {one.node_id}"):
                at = broker.reached.get((one.host, one.port), (one.host, one.port))
                found = clients.handshake(at, door, timeout_ms, name=one.host)
                assert found is not None, f"a handshake with {one.host} is refused"
        with check.subtest("another host"):
            try:
                clients.handshake(broker.address, door, timeout_ms, name=ELSEWHERE)
            except CertificateOfAnother:
                return
            raise AssertionError(f"the certificate is for {ELSEWHERE} too")

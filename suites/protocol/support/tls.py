"""Clients of a TLS listener with certificates, versions and ciphers that the test chooses."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.client.tls_clients import Certificate, Door, TlsClients, tls_clients_at
from harness.conformance.outcome import NotApplicable
from suites.protocol.support.sasl import expect_served

NEEDED = "a listener with TLS"
BY_CERTIFICATE = "a listener with TLS and without SASL"
CLIENT_AUTH, RULES = "ssl.client.auth", "ssl.principal.mapping.rules"
PROTOCOLS, SUITES = "ssl.enabled.protocols", "ssl.cipher.suites"
SUITE = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
REQUIRED = {
    CLIENT_AUTH: "required",
    RULES: "RULE:^OU=(.*)$/behind/,"
    "RULE:^CN=([A-Za-z]*).*,OU=([A-Za-z]*),.*$/$1.$2/L,RULE:^CN=Other.*$/late/,DEFAULT",
}
REQUESTED = {
    CLIENT_AUTH: "requested",
    RULES: "RULE:^CN=([A-Za-z]*).*,OU=([A-Za-z]*),.*$/$2-$1/U,DEFAULT",
    PROTOCOLS: "TLSv1.2",
    SUITES: SUITE,
}
NOT_REQUESTED = {CLIENT_AUTH: "none", PROTOCOLS: "TLSv1.3"}
"""Settings of three brokers; the tests share them, because each costs a start."""


def tls_clients_of(broker: BrokerUnderTest) -> TlsClients:
    """Return the clients of the broker's listener. Raises NotApplicable without TLS."""
    found = tls_clients_at(broker.address)
    if found is None:
        raise NotApplicable(NEEDED)
    return found


def clients_by_certificate(broker: BrokerUnderTest) -> TlsClients:
    """Return the clients of a listener where a certificate is the user.

    Raises NotApplicable behind SASL, and where the settings lack certificates.
    """
    found = tls_clients_of(broker)
    if found.has_sasl:
        raise NotApplicable(BY_CERTIFICATE)
    for certificate in Certificate:
        if not found.has(certificate):
            raise NotApplicable(certificate.value)
    return found


def entered(broker: BrokerUnderTest, door: Door) -> Connection | None:
    """Return a connection that serves Metadata; None where the listener refuses the client.

    The refusal of TLS 1.3 comes with the first answer.
    """
    try:
        connection = broker.connect(door=door)
        expect_served(broker, connection)
    except ConnectionClosed:
        return None
    return connection

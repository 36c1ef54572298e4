"""The way of a node into a secured listener of another node: TLS, then SASL/PLAIN.

The node trusts the authorities of ``ssl.truststore.location`` and shows its own certificate. Its
credentials are ``username`` and ``password`` of ``sasl.jaas.config``, as a broker of Kafka has them
for ``sasl.mechanism.inter.broker.protocol=PLAIN``.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from harness.codec.messages import SaslAuthenticateRequest, SaslHandshakeRequest
from harness.codec.structs import Message
from harness.reference_broker.authentication.secret_values import own_credentials
from harness.reference_broker.authentication.tls_context import client_context
from harness.reference_broker.listener_protocols import protocol_of
from harness.reference_broker.settings import BrokerSettings
from harness.security.secret import Secret
from harness.security.settings import SecurityProtocol

_MECHANISM = "PLAIN"
_HANDSHAKE_VERSION, _AUTHENTICATE_VERSION = 1, 2


@dataclass(frozen=True, slots=True)
class LinkSecurity:
    """The way into the listeners of one name."""

    context: ssl.SSLContext | None
    credentials: tuple[str, Secret] | None

    def steps(self) -> list[tuple[Message, int]]:
        """Return the requests of the authentication, with their versions; none without SASL."""
        if self.credentials is None:
            return []
        user, password = self.credentials
        token = f"\0{user}\0{password.reveal()}".encode()
        return [
            (SaslHandshakeRequest(mechanism=_MECHANISM), _HANDSHAKE_VERSION),
            (SaslAuthenticateRequest(auth_bytes=token), _AUTHENTICATE_VERSION),
        ]


def link_security(settings: BrokerSettings, listener: str) -> LinkSecurity | None:
    """Return the way into a listener of this name; None where it is PLAINTEXT.

    Raises SettingError.
    """
    protocol = protocol_of(settings, listener)
    if protocol is SecurityProtocol.PLAINTEXT:
        return None
    return LinkSecurity(
        client_context(settings) if protocol.has_tls else None,
        own_credentials(settings) if protocol.has_sasl else None,
    )

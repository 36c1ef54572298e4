"""The security of one listener: its TLS, and the gates and the users of its connections."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import Mapping

from harness.base.tls_layer import PEER_CERTIFICATE, TlsLayer
from harness.codec.apis import APIS, api_named
from harness.reference_broker.authentication.bearer_exchange import BearerServer, BearerToken
from harness.reference_broker.authentication.distinguished_name import subject_of
from harness.reference_broker.authentication.plain_exchange import PlainServer
from harness.reference_broker.authentication.principal_rules import NoRuleMatches, PrincipalRules
from harness.reference_broker.authentication.sasl_gate import SaslGate
from harness.reference_broker.authentication.sasl_session import (
    SaslRules,
    SaslSession,
    TokenExchange,
)
from harness.reference_broker.authentication.scram_exchange import ScramServer
from harness.reference_broker.authentication.secret_values import plain_users
from harness.reference_broker.authentication.tls_context import tls_context
from harness.reference_broker.authentication.token_credentials import token_credential
from harness.reference_broker.authentication.unsecured_tokens import read_unsecured
from harness.reference_broker.listener_protocols import protocol_of
from harness.reference_broker.node import Node, RequestRejected
from harness.reference_broker.settings import BrokerSettings, SettingError
from harness.reference_broker.state.credentials.scram_credentials import ScramMechanism
from harness.reference_broker.state.quotas.client_quotas import ANYBODY
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER
from harness.reference_broker.wall_clock import now_ms

_PLAIN = "PLAIN"
_SCRAM: Mapping[str, ScramMechanism] = {each.sasl_name: each for each in ScramMechanism}
_BEARER, _BEARER_SINCE = "OAUTHBEARER", (2, 0)
_OF_EXCHANGES = tuple(api_named(name).key for name in ("SaslHandshake", "SaslAuthenticate"))
_CREDENTIAL_ENDS_SINCE = (3, 3)  # KAFKA-13848
_KNOWN = (_PLAIN, *_SCRAM, _BEARER)
_NONCE_BYTES = 24


class ListenerSecurity:
    """Made once for a listener that is not PLAINTEXT."""

    def __init__(self, settings: BrokerSettings, listener: str) -> None:
        """Raises SettingError."""
        protocol = protocol_of(settings, listener)
        self._settings, self._listener = settings, listener
        self.context: ssl.SSLContext | None = None
        if protocol.has_tls:
            self.context = tls_context(settings, has_sasl=protocol.has_sasl)
        self._has_sasl = protocol.has_sasl
        self._mechanisms = _mechanisms(settings) if protocol.has_sasl else ()
        self._passwords = plain_users(settings) if protocol.has_sasl else {}
        self._principals = PrincipalRules(settings.text("ssl.principal.mapping.rules"))

    def new_gate(self, node: Node) -> SaslGate | None:
        """Return the gate of a new connection; None without SASL."""
        if not self._has_sasl:
            return None
        number = self._settings.number
        rules = SaslRules(
            self._mechanisms,
            lambda mechanism: self._exchange(mechanism, node),
            lambda key, version: self._serves(node, key, version),
            number("connections.max.reauth.ms"),
            credential_ends_session=self._settings.like.since(*_CREDENTIAL_ENDS_SINCE),
        )
        return SaslGate(
            SaslSession(rules),
            number("sasl.server.max.receive.size"),
            number("socket.request.max.bytes"),
            number("connection.failed.authentication.delay.ms"),
        )

    def _serves(self, node: Node, key: int, version: int) -> bool:
        """True if the listener serves this; one for nodes has more than it advertises."""
        is_of_nodes = self._listener != CLIENT_LISTENER
        if is_of_nodes and key in _OF_EXCHANGES:
            return version in APIS[key].valid_versions
        return node.serves(key, version, self._listener)

    def behind_tls(self, connection: asyncio.Protocol) -> asyncio.Protocol:
        """Return the protocol of the connection's socket."""
        return connection if self.context is None else TlsLayer(connection, self.context)

    def user_by(self, transport: asyncio.Transport) -> str:
        """Return the user of a client by its certificate.

        Raises RequestRejected: no rule gives the name in the certificate a user.
        """
        certificate = transport.get_extra_info(PEER_CERTIFICATE)
        if not certificate:
            return ANYBODY
        try:
            return self._principals.user_of(subject_of(certificate))
        except NoRuleMatches:
            raise RequestRejected("no rule gives the certificate's name a user") from None

    def _exchange(self, mechanism: str, node: Node) -> TokenExchange:
        if mechanism == _PLAIN:
            return PlainServer(self._password_of)
        if mechanism == _BEARER:
            return BearerServer(lambda token: BearerToken(*read_unsecured(token, now_ms())))
        kind, credentials = _SCRAM[mechanism], node.state.scram_credentials
        tokens = node.state.delegation_tokens
        return ScramServer(
            kind.digest,
            lambda user: credentials.of(user).get(kind),
            secrets.token_urlsafe(_NONCE_BYTES),
            lambda token_id: token_credential(tokens, token_id, kind),
        )

    def _password_of(self, user: str) -> str | None:
        found = self._passwords.get(user)
        return None if found is None else found.reveal()


def _mechanisms(settings: BrokerSettings) -> tuple[str, ...]:
    named = settings.values["sasl.enabled.mechanisms"]
    assert isinstance(named, tuple), "the setting is a list"
    has_bearer = settings.like.since(*_BEARER_SINCE)
    known = _KNOWN if has_bearer else tuple(name for name in _KNOWN if name != _BEARER)
    unknown = [name for name in named if name not in known]
    if unknown or not named:
        raise SettingError(
            f"sasl.enabled.mechanisms: {', '.join(unknown) or 'none'}: this broker has "
            f"{', '.join(known)}"
        )
    return tuple(dict.fromkeys(named))

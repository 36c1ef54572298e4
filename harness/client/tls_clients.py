"""Clients of a TLS listener that differ from that of the run: by certificate, version, cipher."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from harness.security.contexts import new_context
from harness.security.doors import Door, door_at
from harness.security.reading import read_settings
from harness.security.settings import KeyStore, SecurityProtocol, SecuritySettings, TlsSettings

__all__ = ["PLAINTEXT", "Certificate", "Door", "TlsClients", "tls_clients_at", "tls_clients_in"]
PLAINTEXT = Door(SecuritySettings(SecurityProtocol.PLAINTEXT))
"""The way in for a client that knows of no TLS and no SASL."""
_REFUSALS = ("PROTOCOL_VERSION", "HANDSHAKE_FAILURE", "WRONG_VERSION_NUMBER")
"""Of the alerts by which a listener refuses what a client offers; the last one of an alert in a
record of a version that the client does not offer."""


class CertificateOfAnother(Exception):
    """The certificate of the listener is not for the name, or is not trusted."""


class Certificate(StrEnum):
    """The certificate that a client shows."""

    NONE = "no certificate"
    OWN = "the certificate of the run"
    OTHER = "another trusted certificate"
    UNTRUSTED = "a certificate that is not trusted"


@dataclass(frozen=True, slots=True)
class TlsClients:
    """The clients of one listener."""

    _settings: SecuritySettings
    _tls: TlsSettings

    @property
    def has_sasl(self) -> bool:
        """True if the listener has SASL behind its TLS."""
        return self._settings.sasl is not None

    @property
    def other_name(self) -> str:
        """The subject of the other certificate as Java writes it (RFC 2253)."""
        return self._tls.other_name

    def has(self, certificate: Certificate) -> bool:
        """True if the settings of the listener have this certificate."""
        return certificate is Certificate.NONE or self._store(certificate) is not None

    def certificate(self, shown: bytes | None) -> Certificate:
        """Return the one of these certificates that a client has shown, in DER.

        One that is not known counts as that of the run.
        """
        if shown is None:
            return Certificate.NONE
        for each in (Certificate.OTHER, Certificate.UNTRUSTED):
            store = self._store(each)
            if store is not None and store.path is not None and _is_in(shown, store.path):
                return each
        return Certificate.OWN

    def showing(self, certificate: Certificate) -> Door:
        """Return the way in with this certificate."""
        return self._with(replace(self._tls, own=self._store(certificate)))

    def speaking(self, *versions: str, ciphers: str = "") -> Door:
        """Return the way in by these versions of TLS alone, and these ciphers of OpenSSL's list."""
        return self._with(replace(self._tls, versions=versions, ciphers=ciphers))

    def handshake(
        self, address: tuple[str, int], door: Door, timeout_ms: float, name: str = ""
    ) -> str | None:
        """Return the version of TLS; None where the listener refuses the handshake.

        ``name``: has to be in the certificate; by default the host of the address. Raises
        CertificateOfAnother; OSError for any other failure.
        """
        tls = door.settings.tls
        assert tls is not None, "the listener has TLS"
        context = new_context(replace(tls, checks_host_name=True))
        with socket.create_connection(address, timeout_ms / 1000) as plain:
            try:
                with context.wrap_socket(plain, server_hostname=name or address[0]) as entered:
                    return entered.version()
            except ssl.SSLCertVerificationError as problem:
                raise CertificateOfAnother(problem.verify_message) from problem
            except OSError as problem:
                if not _is_refusal(problem):
                    raise
                return None

    def _store(self, certificate: Certificate) -> KeyStore | None:
        return {
            Certificate.NONE: None,
            Certificate.OWN: self._tls.own,
            Certificate.OTHER: self._tls.other,
            Certificate.UNTRUSTED: self._tls.untrusted,
        }[certificate]

    def _with(self, tls: TlsSettings) -> Door:
        return Door(replace(self._settings, tls=tls))


def tls_clients_in(file: Path) -> TlsClients:
    """Return the clients by a client's file for a listener with TLS. Raises SecurityError."""
    settings = read_settings(file)
    assert settings.tls is not None, "the file is of a listener with TLS"
    return TlsClients(settings, settings.tls)


def tls_clients_at(address: tuple[str, int]) -> TlsClients | None:
    """Return the clients of a listener; None where it has no TLS."""
    door = door_at(address)
    tls = None if door is None else door.settings.tls
    return None if door is None or tls is None else TlsClients(door.settings, tls)


def _is_in(shown: bytes, path: Path) -> bool:
    """True if a PEM file has this certificate."""
    begin = path.read_text().find("-----BEGIN CERTIFICATE-----")
    return begin >= 0 and ssl.PEM_cert_to_DER_cert(path.read_text()[begin:]) == shown


def _is_refusal(problem: OSError) -> bool:
    """True if the listener has refused the handshake by an alert, or closed the connection."""
    if isinstance(problem, ssl.SSLError) and not isinstance(problem, ssl.SSLEOFError):
        return any(word in (problem.reason or "") for word in _REFUSALS)
    return isinstance(problem, ConnectionError | ssl.SSLEOFError)

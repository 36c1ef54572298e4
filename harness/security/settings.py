"""The settings of a connection, typed; :mod:`harness.security.reading` reads them from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.security.secret import Secret
from harness.security.token_sources import TokenSource


class SecurityProtocol(StrEnum):
    """``security.protocol`` of Kafka's clients, and of listeners (KIP-103)."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        """True if the connection is encrypted."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        """True if clients authenticate themselves by SASL."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Mechanism(StrEnum):
    """The SASL mechanisms that are spoken here."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"


class StoreType(StrEnum):
    """``ssl.truststore.type`` and ``ssl.keystore.type``."""

    PEM = "PEM"
    PKCS12 = "PKCS12"
    JKS = "JKS"


@dataclass(frozen=True, slots=True)
class TrustStore:
    """The certificates that are trusted: a file, or PEM text in the settings."""

    type: StoreType
    path: Path | None = None
    password: Secret | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class KeyStore:
    """Our certificate and its key, for listeners that want one.

    ``path`` has both, or ``key_path`` is the file of the key; ``chain`` and ``key`` are PEM texts.
    ``password``: of a PKCS12 file; ``key_password``: of an encrypted key.
    """

    type: StoreType
    path: Path | None = None
    key_path: Path | None = None
    password: Secret | None = None
    key_password: Secret | None = None
    chain: str = ""
    key: Secret | None = None


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """``trust`` None: the authorities of the machine. ``versions``: none means all from 1.2 on.

    ``ciphers``: of TLS up to 1.2, as OpenSSL names them; empty: those of the machine.
    ``other``: the certificate of a client without rights, with the subject ``other_name``;
    ``untrusted``: one that the listener does not trust.
    """

    trust: TrustStore | None = None
    own: KeyStore | None = None
    checks_host_name: bool = True
    checks_certificate: bool = True
    versions: tuple[str, ...] = ()
    ciphers: str = ""
    other: KeyStore | None = None
    other_name: str = ""
    untrusted: KeyStore | None = None


@dataclass(frozen=True, slots=True)
class SaslSettings:
    """``tokens``: for OAUTHBEARER; the others have a name and a password.

    ``by_delegation_token``: the password is the HMAC of a token (KIP-48). ``mechanisms``: those by
    which the name and the password can enter.
    """

    mechanism: Mechanism
    username: str = ""
    password: Secret = field(default=Secret(""))
    by_delegation_token: bool = False
    mechanisms: tuple[Mechanism, ...] = ()
    tokens: TokenSource | None = None
    extensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """``tls`` and ``sasl`` are there exactly where ``protocol`` has them.

    ``file``: the source.
    """

    protocol: SecurityProtocol
    tls: TlsSettings | None = None
    sasl: SaslSettings | None = None
    file: Path | None = None

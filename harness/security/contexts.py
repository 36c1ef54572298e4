"""A TLS context of Python's ssl from settings."""

from __future__ import annotations

import os
import ssl
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.security.errors import SecurityError
from harness.security.pkcs12 import certificates_of, key_and_chain_of
from harness.security.secret import Secret
from harness.security.settings import KeyStore, StoreType, TlsSettings, TrustStore

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_OBSOLETE = {"TLSv1": ssl.TLSVersion.TLSv1, "TLSv1.1": ssl.TLSVersion.TLSv1_1}
"""Spoken where the settings name them alone: a listener has to refuse them."""
_WEAK_CIPHERS = "ALL:@SECLEVEL=0"
"""The obsolete versions have no others."""


def new_context(tls: TlsSettings, file: Path | None = None) -> ssl.SSLContext:
    """Raises SecurityError: a store cannot be read; ``file``: the source of the settings."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _speak(context, tls.versions or tuple(_VERSIONS), tls.ciphers)
    context.check_hostname = tls.checks_host_name and tls.checks_certificate
    context.verify_mode = ssl.CERT_REQUIRED if tls.checks_certificate else ssl.CERT_NONE
    try:
        _trust(context, tls.trust)
        if tls.own is not None:
            _load_own(context, tls.own)
    except SecurityError as problem:
        raise SecurityError(f"{file}: {problem}" if file else str(problem)) from problem
    return context


def listener_context(pem: str) -> ssl.SSLContext:
    """Return the context of a listener that wants no certificate; ``pem``: its key and its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    with _only_ours(pem) as held:
        _load(context, held, None, None)
    return context


def _speak(context: ssl.SSLContext, names: tuple[str, ...], ciphers: str) -> None:
    versions = [{**_VERSIONS, **_OBSOLETE}[name] for name in names]
    is_obsolete = not _OBSOLETE.keys().isdisjoint(names)
    if is_obsolete or ciphers:
        context.set_ciphers(ciphers or _WEAK_CIPHERS)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        context.minimum_version, context.maximum_version = min(versions), max(versions)


def _trust(context: ssl.SSLContext, trust: TrustStore | None) -> None:
    if trust is None:
        context.load_default_certs()
        return
    name = str(trust.path or "ssl.truststore.certificates")
    try:
        if trust.path is None:
            context.load_verify_locations(cadata=trust.text)
        elif trust.type is StoreType.PEM:
            context.load_verify_locations(trust.path)
        else:
            pem = certificates_of(trust.path, trust.password)
            context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, OSError, ValueError) as problem:
        raise SecurityError(f"{name}: no certificates can be read: {_said(problem)}") from None


def _load_own(context: ssl.SSLContext, own: KeyStore) -> None:
    password = own.key_password
    name = str(own.path or "ssl.keystore.certificate.chain")
    try:
        if own.path is not None and own.type is StoreType.PEM:
            _load(context, own.path, own.key_path, password)
            return
        pem = own.chain + "\n" + (own.key.reveal() if own.key else "")
        if own.path is not None:
            pem, password = key_and_chain_of(own.path, own.password), None
        with _only_ours(pem) as held:
            _load(context, held, None, password)
    except (ssl.SSLError, OSError, ValueError) as problem:
        raise SecurityError(
            f"{name}: no certificate with its key can be read: {_said(problem)}. The file or its "
            "password is wrong"
        ) from None


def _load(context: ssl.SSLContext, chain: Path, key: Path | None, password: Secret | None) -> None:
    """A password is always given: without one OpenSSL would ask for it at the terminal."""
    context.load_cert_chain(chain, key, lambda: password.reveal() if password else "")


@contextmanager
def _only_ours(pem: str) -> Iterator[Path]:
    """A file that only this user can read, for a moment: Python's ssl takes keys from files."""
    handle, name = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(pem)
        yield Path(name)
    finally:
        Path(name).unlink()


def _said(problem: Exception) -> str:
    if isinstance(problem, ssl.SSLError):
        return problem.reason or "OpenSSL refuses it"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return str(problem)

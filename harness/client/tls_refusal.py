"""The reasons why a TLS handshake fails, in words that a user can act on."""

from __future__ import annotations

import ssl

from harness.client.errors import EntryRefused

_WRONG_NAMES = (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
_WANTED = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN", "UNKNOWN_CA")
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF_WHILE_READING")


def tls_refusal(problem: Exception, address: tuple[str, int]) -> EntryRefused:
    """Return the error that names the cause of a failed handshake."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return _not_trusted(problem, address)
    if certificate_wanted(problem):
        return EntryRefused(
            f"the listener refuses our certificate, or that there is none: {_said(problem)}",
            "Give a certificate that it trusts by ssl.keystore.location.",
        )
    if isinstance(problem, (ConnectionError, ssl.SSLEOFError)) or _said(problem) in _NO_TLS:
        return EntryRefused(
            f"the listener does not answer as TLS does: {_said(problem)}",
            "A PLAINTEXT or SASL_PLAINTEXT listener does so: correct the address or "
            "security.protocol.",
        )
    return EntryRefused(
        f"the TLS handshake failed: {_said(problem)}",
        "Correct the ssl settings: the listener and this machine must have a TLS version in "
        "common.",
    )


def certificate_wanted(problem: Exception) -> bool:
    """True if the listener sent the alert that our certificate is missing or refused."""
    return isinstance(problem, ssl.SSLError) and any(
        word in (problem.reason or "") for word in _WANTED
    )


def _not_trusted(problem: ssl.SSLCertVerificationError, address: tuple[str, int]) -> EntryRefused:
    if problem.verify_code in _WRONG_NAMES:
        return EntryRefused(
            f"the certificate of the listener is not for the host {address[0]!r}: "
            f"{problem.verify_message}",
            "Use a host name of the certificate; ssl.endpoint.identification.algorithm without a "
            "value switches the check off.",
        )
    return EntryRefused(
        f"the certificate of the listener is not trusted: {problem.verify_message}",
        "Give the certificate of its authority by ssl.truststore.location or ssl.ca.location.",
    )


def _said(problem: Exception) -> str:
    return (getattr(problem, "reason", None) if isinstance(problem, ssl.SSLError) else "") or str(
        problem
    )

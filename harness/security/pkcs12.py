"""PKCS12 stores as PEM text, by cryptography, which is installed where it is wanted."""

from __future__ import annotations

from pathlib import Path

from harness.base.extras import install_line
from harness.security.errors import SecurityError
from harness.security.secret import Secret


def certificates_of(path: Path, password: Secret | None) -> str:
    """Return all certificates of a store. Raises SecurityError, ValueError."""
    own, _, more = _contents(path, password)
    return "".join([own, *more])


def key_and_chain_of(path: Path, password: Secret | None) -> str:
    """Return the certificate, its chain and its key, not encrypted. Raises SecurityError,
    ValueError."""
    own, key, chain = _contents(path, password)
    if not own or not key:
        raise ValueError("it has no certificate with a key")
    return "".join([own, *chain, key])


def _contents(path: Path, password: Secret | None) -> tuple[str, str, list[str]]:
    """The own certificate, its key, and the other certificates; empty where there is none."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.serialization import pkcs12
    except ImportError:
        raise SecurityError(
            f"{path}: a PKCS12 store needs cryptography, which is not installed: "
            f"{install_line('security')}, or convert the store to PEM"
        ) from None
    store = pkcs12.load_pkcs12(path.read_bytes(), password.reveal().encode() if password else None)
    pem = serialization.Encoding.PEM
    own = store.cert.certificate.public_bytes(pem).decode() if store.cert else ""
    more = [each.certificate.public_bytes(pem).decode() for each in store.additional_certs]
    if store.key is None:
        return own, "", more
    key = store.key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return own, key.decode(), more

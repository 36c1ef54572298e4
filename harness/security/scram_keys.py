"""The arithmetic of SCRAM (RFC 5802, section 3): keys of a password, and what both sides sign.

``digest`` is the name of the hash, such as ``sha256``. Names of the RFC: SaltedPassword, ClientKey,
StoredKey, ServerKey, ClientProof, ServerSignature.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache

LEAST_ITERATIONS = 4096
"""Of RFC 7677, and of Kafka's brokers: fewer would make the password cheap to guess."""


@lru_cache(maxsize=8)
def salted_password(digest: str, password: str, salt: bytes, iterations: int) -> bytes:
    """Hi() of the RFC; kept, because a run authenticates thousands of connections."""
    return hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)


def client_key(digest: str, salted: bytes) -> bytes:
    """Return the key that only a client with the password can make."""
    return hmac.digest(salted, b"Client Key", digest)


def stored_key(digest: str, key: bytes) -> bytes:
    """Return the hash of a client key, which a broker keeps instead of the key."""
    return hashlib.new(digest, key).digest()


def server_key(digest: str, salted: bytes) -> bytes:
    """Return the key by which a broker proves that it knows the credential."""
    return hmac.digest(salted, b"Server Key", digest)


def signature(digest: str, key: bytes, signed: bytes) -> bytes:
    """Return the signature of an exchange by a stored key or a server key."""
    return hmac.digest(key, signed, digest)


def masked(key: bytes, mask: bytes) -> bytes:
    """Return the exclusive or of a key and a signature: a proof of the key, or the key again.

    Raises ValueError: their lengths differ.
    """
    return bytes(a ^ b for a, b in zip(key, mask, strict=True))


def signed_text(client_first_bare: str, server_first: str, client_final_bare: str) -> bytes:
    """AuthMessage of the RFC: what both sides sign."""
    return f"{client_first_bare},{server_first},{client_final_bare}".encode()

"""The keys of one direction of a TLS connection, and the decryption of its records.

TLS 1.3 by RFC 8446 (sections 5.2, 7.1, 7.3), TLS 1.2 by RFC 5246 (5, 6.3), 5288 and 7905.
"""

from __future__ import annotations

import hmac
import struct
from typing import Any, NamedTuple

from harness.capture.tls import TlsRecord

_TAG_BYTES = 16
_NONCE_BYTES = 12
_SALT_BYTES = 4


class CipherSuite(NamedTuple):
    """``aead``: AESGCM or ChaCha20Poly1305; ``digest``: a name of hashlib."""

    aead: str
    key_bytes: int
    digest: str


_AES_128 = CipherSuite("AESGCM", 16, "sha256")
_AES_256 = CipherSuite("AESGCM", 32, "sha384")
_CHACHA = CipherSuite("ChaCha20Poly1305", 32, "sha256")
SUITES_1_3 = {0x1301: _AES_128, 0x1302: _AES_256, 0x1303: _CHACHA}
SUITES_1_2 = {
    **dict.fromkeys((0x009C, 0x009E, 0xC02B, 0xC02F), _AES_128),
    **dict.fromkeys((0x009D, 0x009F, 0xC02C, 0xC030), _AES_256),
    **dict.fromkeys((0xCCA8, 0xCCA9, 0xCCAA), _CHACHA),
}


class NotDecrypted(Exception):
    """A record is not decrypted; the text says why."""


class RecordCipher:
    """Open the records of one direction in their order; the number of each counts from 0."""

    def __init__(self, suite: CipherSuite, key: bytes, iv: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import aead

        self._aead: Any = getattr(aead, suite.aead)(key)
        self._iv = iv
        self._number = 0

    def open_1_3(self, record: TlsRecord) -> tuple[int, bytes]:
        """Return the content type inside of a record, and its plain text."""
        plain = self._open(self._xored(), record.body, record.header)
        plain = plain.rstrip(b"\0")
        if not plain:
            raise NotDecrypted("a record without a content type")
        return plain[-1], plain[:-1]

    def open_1_2(self, record: TlsRecord) -> bytes:
        """Return the plain text of a record."""
        body, nonce = record.body, self._xored()
        if len(self._iv) == _SALT_BYTES:  # GCM: the rest of the nonce precedes the cipher text
            explicit = _NONCE_BYTES - _SALT_BYTES
            nonce, body = self._iv + body[:explicit], body[explicit:]
        length = struct.pack(">H", max(0, len(body) - _TAG_BYTES))
        about = struct.pack(">Q", self._number) + record.header[:3] + length
        return self._open(nonce, body, about)

    def _xored(self) -> bytes:
        number = self._number.to_bytes(_NONCE_BYTES, "big")
        return bytes(a ^ b for a, b in zip(self._iv, number, strict=False))

    def _open(self, nonce: bytes, body: bytes, about: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            plain: bytes = self._aead.decrypt(nonce, body, about)
        except (InvalidTag, ValueError):
            raise NotDecrypted("a record does not fit the secrets of the key log") from None
        self._number += 1
        return plain


def cipher_1_3(suite: CipherSuite, secret: bytes) -> RecordCipher:
    """Return the cipher of a traffic secret."""
    key = expand_label(suite, secret, "key", suite.key_bytes)
    return RecordCipher(suite, key, expand_label(suite, secret, "iv", _NONCE_BYTES))


def next_secret(suite: CipherSuite, secret: bytes) -> bytes:
    """Return the traffic secret after a KeyUpdate."""
    return expand_label(suite, secret, "traffic upd", len(secret))


def ciphers_1_2(
    suite: CipherSuite, master: bytes, client_random: bytes, server_random: bytes
) -> tuple[RecordCipher, RecordCipher]:
    """Return the ciphers of client and server."""
    iv_bytes = _SALT_BYTES if suite.aead == "AESGCM" else _NONCE_BYTES
    seed = b"key expansion" + server_random + client_random
    block = _expanded(suite, master, seed, 2 * (suite.key_bytes + iv_bytes))
    sizes = (suite.key_bytes, suite.key_bytes, iv_bytes, iv_bytes)
    parts, at = [], 0
    for size in sizes:
        parts.append(block[at : at + size])
        at += size
    return RecordCipher(suite, parts[0], parts[2]), RecordCipher(suite, parts[1], parts[3])


def expand_label(suite: CipherSuite, secret: bytes, label: str, length: int) -> bytes:
    """HKDF-Expand-Label without a context."""
    name = b"tls13 " + label.encode()
    info = struct.pack(">HB", length, len(name)) + name + b"\0"
    found, block = b"", b""
    for number in range(1, 256):
        if len(found) >= length:
            break
        block = hmac.digest(secret, block + info + bytes([number]), suite.digest)
        found += block
    return found[:length]


def _expanded(suite: CipherSuite, secret: bytes, seed: bytes, length: int) -> bytes:
    """P_hash of RFC 5246, section 5."""
    found, state = b"", seed
    while len(found) < length:
        state = hmac.digest(secret, state, suite.digest)
        found += hmac.digest(secret, state + seed, suite.digest)
    return found[:length]

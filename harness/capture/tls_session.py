"""The decryption of one TLS connection, in both directions, with the secrets of a key log."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from harness.capture.key_log import TLS_1_2_LABEL, KeyLog, Secrets
from harness.capture.tls import (
    ALERT,
    APPLICATION_DATA,
    CHANGE_CIPHER_SPEC,
    CLIENT_HELLO,
    HANDSHAKE,
    SERVER_HELLO,
    TlsRecord,
)
from harness.capture.tls_ciphers import (
    SUITES_1_2,
    SUITES_1_3,
    CipherSuite,
    NotDecrypted,
    RecordCipher,
    cipher_1_3,
    ciphers_1_2,
    next_secret,
)

_FINISHED, _KEY_UPDATE = 20, 24
_TLS_1_2, _TLS_1_3 = 0x0303, 0x0304
_SUPPORTED_VERSIONS = 43
_RANDOM_AT, _RANDOM_BYTES = 2, 32
_RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
"""The random of a server's hello that is a HelloRetryRequest (RFC 8446, section 4.1.3)."""
_LONGEST_HANDSHAKE = 1 << 18
_HANDSHAKE_HEAD = 4
_LABELS = (
    ("CLIENT_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0"),
    ("SERVER_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0"),
)


class PlainRecord(NamedTuple):
    """Application data or an alert, decrypted."""

    content_type: int
    data: bytes


class _Way:
    """The state of one direction."""

    def __init__(self) -> None:
        self.handshake = bytearray()
        self.cipher: RecordCipher | None = None
        self.prepared: RecordCipher | None = None  # of TLS 1.2, until ChangeCipherSpec
        self.secrets: list[bytes] = []  # of TLS 1.3, that are still to be used
        self.secret = b""  # that is in use


class TlsSession:
    """Feed the records of both directions; take what is inside.

    ``version``: the number on the wire, 0 before the server's hello.
    """

    def __init__(self, key_log: KeyLog) -> None:
        self._key_log = key_log
        self._ways = (_Way(), _Way())  # of the client, of the server
        self._client_random = b""
        self._secrets: Secrets | None = None
        self._suite: CipherSuite | None = None
        self.version = 0

    def feed(self, record: TlsRecord, *, from_server: bool) -> Iterator[PlainRecord]:
        """Yield the application data and alerts of a record.

        Raises NotDecrypted: no secrets, an unknown cipher suite, a record that does not fit.
        """
        way = self._ways[from_server]
        kind, body = record.content_type, record.body
        if kind == CHANGE_CIPHER_SPEC:
            way.cipher = way.prepared or way.cipher
            return
        if way.cipher is not None and self.version == _TLS_1_3:
            if kind == APPLICATION_DATA:
                kind, body = way.cipher.open_1_3(record)
        elif way.cipher is not None:
            body = way.cipher.open_1_2(record)
            if kind == HANDSHAKE:  # the end of the handshake: nothing in it is of use
                return
        elif kind == APPLICATION_DATA:
            raise NotDecrypted("the beginning of the connection was not captured")
        if kind == HANDSHAKE:
            self._take_handshake(way, body, from_server=from_server)
        elif kind in (APPLICATION_DATA, ALERT):
            yield PlainRecord(kind, body)

    def _take_handshake(self, way: _Way, body: bytes, *, from_server: bool) -> None:
        way.handshake += body
        while len(way.handshake) >= _HANDSHAKE_HEAD:
            length = int.from_bytes(way.handshake[1:_HANDSHAKE_HEAD], "big")
            if length > _LONGEST_HANDSHAKE:
                raise NotDecrypted(f"a handshake message of {length} bytes")
            end = _HANDSHAKE_HEAD + length
            if len(way.handshake) < end:
                return
            kind, message = way.handshake[0], bytes(way.handshake[_HANDSHAKE_HEAD:end])
            del way.handshake[:end]
            self._message(way, kind, message, from_server=from_server)

    def _message(self, way: _Way, kind: int, message: bytes, *, from_server: bool) -> None:
        if kind == CLIENT_HELLO and not from_server:
            self._client_random = message[_RANDOM_AT : _RANDOM_AT + _RANDOM_BYTES]
        elif kind == SERVER_HELLO and from_server:
            self._server_hello(message)
        elif kind == _FINISHED and self.version == _TLS_1_3:
            self._next_key(way)
        elif kind == _KEY_UPDATE and self.version == _TLS_1_3 and self._suite is not None:
            way.secrets.append(next_secret(self._suite, way.secret))
            self._next_key(way)

    def _server_hello(self, message: bytes) -> None:
        random = message[_RANDOM_AT : _RANDOM_AT + _RANDOM_BYTES]
        if random == _RETRY:
            return
        self.version, number = _chosen(message)
        self._secrets = self._key_log.secrets(self._client_random)
        if self._secrets is None:
            raise NotDecrypted("the key log has no secrets of this connection")
        suites = SUITES_1_3 if self.version == _TLS_1_3 else SUITES_1_2
        suite = self._suite = suites.get(number)
        if suite is None or self.version not in (_TLS_1_2, _TLS_1_3):
            raise NotDecrypted(
                f"cipher suite 0x{number:04X} of TLS version 0x{self.version:04X} is not known here"
            )
        if self.version == _TLS_1_3:
            for way, labels in zip(self._ways, _LABELS, strict=True):
                way.secrets = [self._secret(label) for label in labels]
                self._next_key(way)
            return
        master = self._secret(TLS_1_2_LABEL)
        prepared = ciphers_1_2(suite, master, self._client_random, random)
        for way, cipher in zip(self._ways, prepared, strict=True):
            way.prepared = cipher

    def _secret(self, label: str) -> bytes:
        secret = (self._secrets or {}).get(label)
        if secret is None:
            raise NotDecrypted(f"the key log has no {label} of this connection")
        return secret

    def _next_key(self, way: _Way) -> None:
        if way.secrets and self._suite is not None:
            way.secret = way.secrets.pop(0)
            way.cipher = cipher_1_3(self._suite, way.secret)


def _chosen(hello: bytes) -> tuple[int, int]:
    """Return version and cipher suite of a server's hello. Raises NotDecrypted if it is cut."""
    try:
        (version,) = struct.unpack_from(">H", hello)
        at = _RANDOM_AT + _RANDOM_BYTES
        at += 1 + hello[at]
        (suite,) = struct.unpack_from(">H", hello, at)
        at += 3  # and the compression
        end = min(len(hello), at + 2 + int.from_bytes(hello[at : at + 2], "big"))
        at += 2
        while at + 4 <= end:
            kind, length = struct.unpack_from(">HH", hello, at)
            if kind == _SUPPORTED_VERSIONS:
                (version,) = struct.unpack_from(">H", hello, at + 4)
            at += 4 + length
    except (struct.error, IndexError):
        raise NotDecrypted("the server's hello is cut") from None
    return version, suite

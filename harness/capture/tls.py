"""TLS as far as it is plain: records, the beginnings of both hellos, alerts (RFC 8446, 5246)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

HEADER_BYTES = 5
CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION_DATA = 20, 21, 22, 23
CLIENT_HELLO, SERVER_HELLO = 1, 2
_CONTENT_TYPES = range(20, 25)  # RFC 8446, section 5.1
_VERSIONS = {bytes((3, minor)) for minor in range(5)}
_LONGEST_RECORD = 2**14 + 2048
_PLAIN_ALERT_BYTES = 2
_LEVELS = {1: "warning", 2: "fatal"}
ALERTS = {
    0: "close_notify",
    10: "unexpected_message",
    20: "bad_record_mac",
    21: "decryption_failed",
    22: "record_overflow",
    30: "decompression_failure",
    40: "handshake_failure",
    41: "no_certificate",
    42: "bad_certificate",
    43: "unsupported_certificate",
    44: "certificate_revoked",
    45: "certificate_expired",
    46: "certificate_unknown",
    47: "illegal_parameter",
    48: "unknown_ca",
    49: "access_denied",
    50: "decode_error",
    51: "decrypt_error",
    60: "export_restriction",
    70: "protocol_version",
    71: "insufficient_security",
    80: "internal_error",
    86: "inappropriate_fallback",
    90: "user_canceled",
    100: "no_renegotiation",
    109: "missing_extension",
    110: "unsupported_extension",
    111: "certificate_unobtainable",
    112: "unrecognized_name",
    113: "bad_certificate_status_response",
    114: "bad_certificate_hash_value",
    115: "unknown_psk_identity",
    116: "certificate_required",
    120: "no_application_protocol",
}
"""IANA's registry of TLS alerts."""


class TlsRecord(NamedTuple):
    """One record: its header of five bytes, and what it holds."""

    header: bytes
    body: bytes

    @property
    def content_type(self) -> int:
        return self.header[0]


class RecordReader:
    """Feed the bytes of one direction, take whole records."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.is_lost = False  # no record begins where one should

    def feed(self, data: bytes) -> Iterator[TlsRecord]:
        """Yield the records that these bytes complete; bytes that are no record end it."""
        self._buffer += data
        while not self.is_lost and len(self._buffer) >= HEADER_BYTES:
            header = bytes(self._buffer[:HEADER_BYTES])
            if not _begins_record(header):
                self.is_lost = True
                return
            end = HEADER_BYTES + int.from_bytes(header[3:], "big")
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[HEADER_BYTES:end])
            del self._buffer[:end]
            yield TlsRecord(header, body)


def is_tls(data: bytes) -> bool:
    """True if the bytes are TLS records, by type, version and length of all that begin here."""
    at = 0
    while len(data) - at >= HEADER_BYTES:
        if not _begins_record(data[at : at + HEADER_BYTES]):
            return False
        at += HEADER_BYTES + int.from_bytes(data[at + 3 : at + 5], "big")
    return at > 0


def fills_records(data: bytes) -> bool:
    """True if the bytes are whole TLS records to the last byte."""
    reader = RecordReader()
    read = sum(HEADER_BYTES + len(record.body) for record in reader.feed(data))
    return bool(data) and read == len(data)


def hello_of(data: bytes) -> int | None:
    """Return CLIENT_HELLO or SERVER_HELLO if the bytes begin a record with one, else None."""
    if not is_tls(data) or data[0] != HANDSHAKE or len(data) <= HEADER_BYTES:
        return None
    kind = data[HEADER_BYTES]
    return kind if kind in (CLIENT_HELLO, SERVER_HELLO) else None


def plain_alert(data: bytes) -> str | None:
    """Return ``fatal unknown_ca (48)`` if the bytes begin with an alert that is not encrypted."""
    record = next(RecordReader().feed(data[: HEADER_BYTES + _PLAIN_ALERT_BYTES]), None)
    if record is None or record.content_type != ALERT or len(record.body) != _PLAIN_ALERT_BYTES:
        return None
    return alert_name(record.body)


def alert_name(body: bytes) -> str | None:
    """Return level, name and number of an alert; None if these two bytes are none."""
    level, number = body[:_PLAIN_ALERT_BYTES]
    if level not in _LEVELS:
        return None
    return f"{_LEVELS[level]} {ALERTS.get(number, 'unknown alert')} ({number})"


def _begins_record(header: bytes) -> bool:
    known = header[0] in _CONTENT_TYPES and header[1:3] in _VERSIONS
    return known and 0 < int.from_bytes(header[3:5], "big") <= _LONGEST_RECORD

"""The recognition of TLS records."""

from __future__ import annotations

_HEADER_BYTES = 5
_CONTENT_TYPES = range(20, 25)  # RFC 8446, section 5.1
_VERSIONS = {bytes((3, minor)) for minor in range(5)}
_LONGEST_RECORD = 2**14 + 2048


def is_tls(data: bytes) -> bool:
    """True if the bytes are TLS records, by type, version and length of all that begin here."""
    at = 0
    while len(data) - at >= _HEADER_BYTES:
        length = int.from_bytes(data[at + 3 : at + 5], "big")
        known = data[at] in _CONTENT_TYPES and data[at + 1 : at + 3] in _VERSIONS
        if not known or not 0 < length <= _LONGEST_RECORD:
            return False
        at += _HEADER_BYTES + length
    return at > 0

"""Files that hold Kafka's bytes inside of something else, and what reads them."""

from __future__ import annotations

import re

_CAPTURE = "kafka-conformance codec pcap FILE reads it"
_UNPACK = "unpack it first; codec pcap reads a capture in it as it is"
_TLS = "its content is encrypted: take the bytes before TLS, or use a listener without it"
_FOREIGN = (
    (rb"\xa1\xb2[\xc3\x3c][\xd4\x4d]", "a packet capture (pcap)", _CAPTURE),
    (rb"[\xd4\x4d][\xc3\x3c]\xb2\xa1", "a packet capture (pcap)", _CAPTURE),
    (rb"\x0a\x0d\x0d\x0a", "a packet capture (pcapng)", _CAPTURE),
    (rb"\x1f\x8b\x08", "a gzip file", _UNPACK),
    (rb"[\x14-\x17]\x03[\x00-\x04]", "a TLS record", _TLS),
    (rb"PK\x03\x04", "a ZIP or JAR archive", _UNPACK),
    (rb"HTTP/1|GET /|POST /", "HTTP", "Kafka's protocol is another one"),
)


def foreign_file(data: bytes) -> str | None:
    """Return what the bytes are and what to do with them, or None."""
    for pattern, what, advice in _FOREIGN:
        if re.match(pattern, data, re.DOTALL):
            return f"this is {what}: {advice}"
    return None

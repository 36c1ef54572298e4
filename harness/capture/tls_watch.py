"""The TLS of one connection: alerts are named, and with a key log its data is decrypted."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from harness.capture.key_log import KeyLog
from harness.capture.tls import ALERT, APPLICATION_DATA, RecordReader, TlsRecord, alert_name
from harness.capture.tls_ciphers import NotDecrypted
from harness.capture.tls_session import TlsSession

_PLAIN_ALERT_BYTES = 2
_CLOSE_NOTIFY = 0
UNREADABLE = "TLS: cannot be read"


class TlsState(Enum):
    """PENDING: the handshake decides; OPEN: decrypted; CLOSED: not readable."""

    PENDING = "pending"
    OPEN = "open"
    CLOSED = "closed"


class TlsWatch:
    """Feed the bytes of both directions; take decrypted bytes, and texts for notices."""

    def __init__(self, client: str, server: str, key_log: KeyLog | None) -> None:
        self._names = (client, server)
        self._readers = (RecordReader(), RecordReader())
        self._seen_bytes = [0, 0]
        self._session = TlsSession(key_log) if key_log is not None else None
        self.state = TlsState.CLOSED if key_log is None else TlsState.PENDING
        self._is_announced = False

    def feed(self, data: bytes, *, from_server: bool) -> Iterator[bytes | str]:
        """Yield decrypted bytes of this direction, and a text for what must be known."""
        yield from self._announced()
        reader = self._readers[from_server]
        was_lost, is_first = reader.is_lost, not self._seen_bytes[from_server]
        self._seen_bytes[from_server] += len(data)
        for record in reader.feed(data):
            yield from self._record(record, from_server=from_server)
            is_first = False
        if reader.is_lost and not was_lost:
            name = self._names[from_server]
            if is_first:
                yield f"{name} answered TLS with bytes that are no TLS"
            yield from self._closed(f"bytes of {name} are no TLS record")

    def lost(self, *, from_server: bool) -> Iterator[str]:
        """Note that bytes are missing: the records behind them have unknown numbers."""
        self._readers[from_server].is_lost = True
        yield from self._closed(f"bytes of {self._names[from_server]} were not captured")

    def finish(self, *, is_ended: bool) -> Iterator[str]:
        """Yield the last texts. ``is_ended``: the server ended the connection."""
        if self._seen_bytes[0] and not self._seen_bytes[1] and is_ended:
            client, server = self._names
            yield f"{server} ended the connection at the TLS of {client}, as a plain listener does"
        if self.state is TlsState.PENDING:
            yield from self._closed("the handshake was not captured to its end")

    def _record(self, record: TlsRecord, *, from_server: bool) -> Iterator[bytes | str]:
        if record.content_type == ALERT and len(record.body) == _PLAIN_ALERT_BYTES:
            yield from self._alert(record.body, from_server=from_server)
            return
        if self._session is None or self.state is TlsState.CLOSED:
            return
        try:
            for plain in self._session.feed(record, from_server=from_server):
                if plain.content_type == APPLICATION_DATA:
                    yield from self._opened()
                    yield plain.data
                elif plain.data[1:] != bytes([_CLOSE_NOTIFY]):
                    yield from self._alert(plain.data, from_server=from_server)
        except NotDecrypted as reason:
            yield from self._closed(str(reason))

    def _alert(self, body: bytes, *, from_server: bool) -> Iterator[str]:
        name = alert_name(body) if len(body) == _PLAIN_ALERT_BYTES else None
        if name is not None:
            yield f"TLS alert of {self._names[from_server]}: {name}"

    def _announced(self) -> Iterator[str]:
        if self._session is None and not self._is_announced:
            self._is_announced = True
            yield UNREADABLE

    def _opened(self) -> Iterator[str]:
        if self.state is TlsState.PENDING:
            self.state = TlsState.OPEN
            yield "TLS: decrypted with the key log"

    def _closed(self, reason: str) -> Iterator[str]:
        if self.state is not TlsState.CLOSED:
            self.state = TlsState.CLOSED
            yield f"TLS: cannot be decrypted: {reason}"

"""The traffic of proxies as a packet capture, without root: a connection for each of their sockets.

The addresses are those of the sockets; the times are those at which bytes arrived or were given to
a socket. A comparison of both sides shows the changes of a fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from harness.base.operating_system import RESET_ON_CLOSE
from harness.capture.file_forms import FileForm, Pcap, Pcapng
from harness.capture.segment import SocketAddress
from harness.capture.writing import CaptureWriter, WrittenConnection, endpoint
from harness.proxies.event import Event, Listener

GIB = 1 << 30
NAMED = ".pcapng"
_BUFFER_BYTES = 1 << 18
_SAME = (
    "can_write_eof", "close", "get_extra_info", "get_protocol", "get_write_buffer_limits",
    "get_write_buffer_size", "is_closing", "is_reading", "pause_reading", "resume_reading",
    "set_protocol", "set_write_buffer_limits",
)  # fmt: skip


def _nobody(event: Event) -> None:
    """Ignore the event: the default listener of a capture."""


class Sides(StrEnum):
    """The sides of a proxy that a capture contains."""

    BOTH = "both"
    CLIENT = "client"
    BROKER = "broker"


class Capture:
    """A :class:`harness.proxies.tap.Tap` for any number of proxies of one loop.

    A file that ends in ``.pcapng`` has that format: each packet has the link, such as ``2->1``, as
    the name of its interface. Any other file is pcap, which has no names.

    At ``limit_bytes``, and when the file cannot be written, the capture ends with the event
    ``capture_ended``; traffic goes on. Call ``close`` after the proxies have stopped, or use the
    capture as a context manager. Raises OSError: the file cannot be created.
    """

    def __init__(
        self,
        file: Path,
        *,
        sides: Sides = Sides.BOTH,
        limit_bytes: int = GIB,
        time_ns: Callable[[], int] = time.time_ns,
        tell: Listener = _nobody,
        now_ms: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """``time_ns``: since 1970, UTC; ``now_ms``: the clock of the events."""
        self.file, self.time_ns = file, time_ns
        self._sides, self._tell, self._now_ms = sides, tell, now_ms
        self._out = file.open("wb", buffering=_BUFFER_BYTES)
        form = Pcapng() if file.suffix == NAMED else Pcap()
        self._writer = _Writer(self._out, form, limit_bytes, self._ended)

    @property
    def written_bytes(self) -> int:
        return self._writer.written_bytes

    @property
    def is_over(self) -> bool:
        """True if nothing more is written."""
        return self._writer.is_over

    def client(self, side: asyncio.Protocol, link: str) -> asyncio.Protocol:
        return self._tapped(side, Sides.CLIENT, link)

    def broker(self, side: asyncio.Protocol, link: str) -> asyncio.Protocol:
        return self._tapped(side, Sides.BROKER, link)

    def flush(self) -> None:
        """Write all captured packets to the file."""
        self._writer.flush()

    def close(self) -> None:
        """Close the file; twice is fine."""
        self._writer.flush()
        self._writer.is_over = True
        with contextlib.suppress(OSError):  # it closes all the same
            self._out.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tapped(self, side: asyncio.Protocol, which: Sides, link: str) -> asyncio.Protocol:
        if self.is_over or self._sides not in (Sides.BOTH, which):
            return side
        return _TappedSide(side, self, link, we_accepted=which is Sides.CLIENT)

    def begin(self, opener: SocketAddress, accepter: SocketAddress, link: str) -> WrittenConnection:
        """Begin to capture a connection that was just made."""
        return WrittenConnection(self._writer, opener, accepter, self.time_ns(), link)

    def _ended(self, why: str) -> None:
        detail = {"file": str(self.file), "bytes": self.written_bytes, "why": why}
        self._tell(Event(self._now_ms(), "capture_ended", detail=detail))


class _Writer(CaptureWriter):
    """A writer of whole packets up to a limit; an error of the file is no error of the traffic."""

    def __init__(
        self, out: BinaryIO, form: FileForm, limit_bytes: int, ended: Callable[[str], None]
    ) -> None:
        super().__init__(out, form)
        self.written_bytes, self.is_over = out.tell(), False
        self._limit_bytes, self._tell_end = limit_bytes, ended

    def record(self, written: bytes) -> None:
        if self.is_over:
            return
        more = len(written)
        if self.written_bytes + more > self._limit_bytes:
            self._end(f"it would grow above {self._limit_bytes} bytes")
            return
        try:
            super().record(written)
        except OSError as error:
            self._end(error.strerror or str(error))
        else:
            self.written_bytes += more

    def flush(self) -> None:
        if self.is_over:
            return
        try:
            super().flush()
        except OSError as error:
            self._end(error.strerror or str(error))

    def _end(self, why: str) -> None:
        self.is_over = True
        with contextlib.suppress(OSError):
            super().flush()
        self._tell_end(why)


class _TappedSide(asyncio.Protocol):
    """A protocol before a side: it records the received bytes and those given to the transport."""

    _written: WrittenConnection
    _us: SocketAddress
    _peer: SocketAddress

    def __init__(
        self, side: asyncio.Protocol, capture: Capture, link: str, *, we_accepted: bool
    ) -> None:
        self._side, self._capture, self._link = side, capture, link
        self._we_accepted = we_accepted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)
        ours, theirs = map(transport.get_extra_info, ("sockname", "peername"))
        self._us = endpoint(*ours[:2])
        # A peer that is gone already has no name.
        self._peer = (
            endpoint(*theirs[:2]) if theirs else SocketAddress(bytes(len(self._us.address)), 0)
        )
        opener, accepter = self._us, self._peer
        if self._we_accepted:
            opener, accepter = accepter, opener
        self._written = self._capture.begin(opener, accepter, self._link)
        self._side.connection_made(_TappedTransport(transport, self.gave, self.gave_end))

    def data_received(self, data: bytes) -> None:
        self._sent(self._peer, data)
        self._side.data_received(data)

    def eof_received(self) -> bool | None:
        self._ended(self._peer)
        return self._side.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        if isinstance(error, ConnectionResetError | BrokenPipeError):
            self._ended(self._peer, reset=True)
        else:
            self._ended(self._us)
        self._side.connection_lost(error)

    def pause_writing(self) -> None:
        self._side.pause_writing()

    def resume_writing(self) -> None:
        self._side.resume_writing()

    def gave(self, data: bytes) -> None:
        self._sent(self._us, data)

    def gave_end(self, *, reset: bool = False) -> None:
        self._ended(self._us, reset=reset)

    def _sent(self, sender: SocketAddress, data: bytes) -> None:
        if not self._capture.is_over:
            self._written.sent(sender, data, self._capture.time_ns())

    def _ended(self, sender: SocketAddress, *, reset: bool = False) -> None:
        self._written.ended(sender, self._capture.time_ns(), reset=reset)


class _TappedTransport(asyncio.Transport):
    """The recording transport that a side gets in place of its own."""

    def __init__(
        self,
        transport: asyncio.Transport,
        gave: Callable[[bytes], None],
        gave_end: Callable[..., None],
    ) -> None:
        super().__init__()
        self._transport, self._gave, self._gave_end = transport, gave, gave_end
        for name in _SAME:
            setattr(self, name, getattr(transport, name))

    def write(self, data: Any) -> None:
        is_lost = self._transport.is_closing()
        self._transport.write(data)
        if not is_lost:
            self._gave(data)

    def write_eof(self) -> None:
        self._transport.write_eof()
        self._gave_end()

    def abort(self) -> None:
        if not self._transport.is_closing():
            sock = self._transport.get_extra_info("socket")
            linger = sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, len(RESET_ON_CLOSE))
            self._gave_end(reset=linger == RESET_ON_CLOSE)
        self._transport.abort()

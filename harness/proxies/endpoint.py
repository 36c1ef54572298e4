"""One socket of a proxied connection."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Protocol, cast

from harness.base.operating_system import RESET_ON_CLOSE
from harness.proxies.counters import Traffic
from harness.proxies.stream import Stream


class Owner(Protocol):
    """The connection, called at the events of its sides."""

    def made(self, side: ProxyEndpoint) -> None: ...

    def ended(self, side: ProxyEndpoint) -> None: ...

    def lost(self, side: ProxyEndpoint) -> None: ...

    def told_end(self, side: ProxyEndpoint) -> None: ...

    def close(self) -> None: ...

    def reset(self, side: ProxyEndpoint) -> None: ...


class ProxyEndpoint(asyncio.Protocol):
    """``out`` leads from this socket to the other, ``into`` from the other to this one."""

    out: Stream
    into: Stream

    def __init__(self, owner: Owner, traffic: Traffic, linger_ms: float) -> None:
        self._owner, self._traffic, self._linger_s = owner, traffic, linger_ms / 1000
        self.feed: Callable[[bytes], None] = self._feed_stream
        self.transport: asyncio.Transport | None = None
        self.has_ended = False  # the peer sends nothing more
        self.was_told_end = False  # and our end (FIN) was written
        self.is_loose = False  # the other side is not closed with this one
        self._is_closing = self._is_resetting = False
        self._when_written: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)
        self.transport = transport
        self._owner.made(self)
        if self._is_resetting:
            self._reset_now()

    def data_received(self, data: bytes) -> None:
        self._traffic.bytes += len(data)
        self.feed(data)

    def _feed_stream(self, data: bytes) -> None:
        self.out.pass_on(data)

    def eof_received(self) -> bool:
        self.has_ended = True
        self._owner.ended(self)
        if self._is_closing or (self.into.way.is_over and self.out.way.is_over):
            self._shut()
        return True  # the other direction goes on

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        if self.transport is None:
            return
        self.transport = None
        if self._timer:
            self._timer.cancel()
        self.into.finish()
        self._owner.lost(self)

    def forgotten(self) -> None:
        """Handle the loss of the socket after a cancelled connect.

        uvloop then closes a socket that was made in the same turn, without calling
        ``connection_lost``.
        """
        if self.transport and self.transport.is_closing():
            self.connection_lost(None)

    def pause_writing(self) -> None:
        self.into.receiver_is_slow = True
        self.into.regulate()

    def resume_writing(self) -> None:
        self.into.receiver_is_slow = False
        self.into.regulate()
        if self._when_written:
            self._when_written()

    def pause(self, is_paused: bool) -> None:
        """Pause or resume reading from the peer."""
        transport = self.transport
        if transport is None or self.has_ended or transport.is_closing():
            return
        if is_paused:
            transport.pause_reading()
        else:
            transport.resume_reading()

    # -- marks that came out of the stream to this side --------------------------------------

    def reached_end(self) -> None:
        self.into.finish()
        self._write_end()
        self._owner.told_end(self)

    def reached_close(self) -> None:
        self._owner.close()

    def reached_reset(self) -> None:
        self._owner.reset(self)

    # -- three ways to go ---------------------------------------------------------------------

    def finish(self) -> None:
        """Close by FIN, once all is written.

        Bytes that the peer still sends are read for a while: a socket that is closed with unread
        bytes answers them by RST, and the peer may lose bytes that it has not read itself.
        """
        if self._is_closing or self._is_resetting or self.transport is None:
            return
        self._is_closing = True
        self.into.finish()
        self.out.finish()
        self._write_end()
        if self.has_ended:
            self._shut()
        self._linger(self.transport.get_write_buffer_size())

    def reset(self) -> None:
        """Close by RST, once what was sent before is written, or its time is over."""
        if self._is_resetting:
            return
        self._is_resetting = True
        self.into.finish()
        self.out.finish()
        if self.transport is None:
            return  # still being connected: as soon as it is
        if self.transport.get_write_buffer_size() == 0:
            self._reset_now()
            return
        self._when_written = self._reset_now
        self.transport.set_write_buffer_limits(0)
        self._after_lingering(self._reset_now)

    def abort(self) -> None:
        """Close without waiting for the peer to read."""
        self.is_loose = True
        self.into.finish()
        self.out.finish()
        if self.transport:
            self.transport.abort()

    def _reset_now(self) -> None:
        if self.transport is None:
            return
        sock = self.transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.transport.abort()

    def _write_end(self) -> None:
        """Half-close: our last byte is written, the peer's may still come."""
        if self.was_told_end or self.transport is None or self.transport.is_closing():
            return
        self.was_told_end = True
        with contextlib.suppress(OSError):  # the peer may have reset meanwhile
            self.transport.write_eof()

    def _shut(self) -> None:
        if self.transport:
            self.transport.close()

    def _linger(self, unsent_bytes: int) -> None:
        self._after_lingering(self._linger_on, unsent_bytes)

    def _after_lingering(self, act: Callable[..., None], *arguments: int) -> None:
        """Call ``act`` after the linger time, one at a time: a reset replaces a close."""
        if self._timer:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._linger_s, act, *arguments)

    def _linger_on(self, unsent_bytes: int) -> None:
        if self.transport is None:
            return
        still_unsent_bytes = self.transport.get_write_buffer_size()
        if 0 < still_unsent_bytes < unsent_bytes:
            self._linger(still_unsent_bytes)
        else:
            self.transport.abort()

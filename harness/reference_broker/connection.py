"""One client connection: requests in one at a time, responses out in order, bounded memory.

Source: class SocketServer. A connection has one request in progress. While it has one, or while its
client does not read its responses, the connection buffers at most `_BACKLOG_BYTES` and the data of
one socket read, and then stops reading the socket, so TCP slows the client down.

Everything happens in the loop's callbacks: a task and a future for each request cost more than
answering most requests.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.codec.frame import frame, frame_head
from harness.codec.structs import Message
from harness.reference_broker.connection_places import Admission
from harness.reference_broker.file_part import FilePart, FileTooShort
from harness.reference_broker.node import Node, RequestRejected, Response, WaitingRequest
from harness.reference_broker.outbound_limit import OutboundLimit
from harness.reference_broker.request_buffer import FrameRefused, RequestBuffer
from harness.reference_broker.request_memory import RequestMemory
from harness.reference_broker.state.quotas.client_quotas import ANYBODY

if TYPE_CHECKING:
    from harness.reference_broker.authentication.listener_security import ListenerSecurity

_LOG = logging.getLogger(__name__)
_BACKLOG_BYTES = 64 * 1024
_REQUESTS_IN_A_ROW = 16
_WRITTEN_TOGETHER_BYTES = 64 * 1024


class ClientConnection(asyncio.Protocol):
    """Serves one client.

    `on_made` informs the server of the new connection, which may refuse it, or let it wait until it
    calls `begin`; `on_lost` of its end.
    """

    def __init__(
        self,
        node: Node,
        memory: RequestMemory,
        untaken: OutboundLimit,
        limit_bytes: int,
        idle_ms: int,
        listener: str,
        on_made: Callable[["ClientConnection"], Admission],
        on_lost: Callable[["ClientConnection"], None],
        security: "ListenerSecurity | None" = None,
    ) -> None:
        """`security` is that of a listener that is not PLAINTEXT."""
        self._gate = None if security is None else security.new_gate(node)
        self._security, self._user = security, ANYBODY
        if self._gate is not None:
            limit_bytes = self._gate.limit_bytes
        self._node, self._memory, self._untaken = node, memory, untaken
        self._listener = listener
        self._idle_s = idle_ms / 1000 if idle_ms > 0 else None
        self._on_made, self._on_lost = on_made, on_lost
        self._loop = asyncio.get_running_loop()
        self._buffer = RequestBuffer(limit_bytes)
        self._reserved_bytes = 0
        self._waiting: WaitingRequest | None = None
        self._held_by: asyncio.Handle | None = None  # a mute, or the turn of the others
        self._is_writable, self._is_reading, self._has_ended = True, True, False
        self._heard_at = self._loop.time()
        self._idle_timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self.ip, self.descriptor = "?", -1

    # The event loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the transport."""
        self._transport = cast("asyncio.Transport", transport)
        self.ip = str(transport.get_extra_info("peername", ("?",))[0])
        socket = transport.get_extra_info("socket")
        self.descriptor = -1 if socket is None else socket.fileno()
        admission = self._on_made(self)
        if admission is Admission.REFUSED:
            _LOG.info("connection from %s refused: there are too many", self.ip)
            self._transport.abort()
        elif admission is Admission.WAITS:
            self._read(False)
        else:
            self.begin()

    def begin(self) -> None:
        """Serve the client from now on: the connection has a place."""
        self._read(True)
        if self._idle_s is not None:
            self._idle_timer = self._loop.call_later(self._idle_s, self._look_whether_idle)

    def data_received(self, data: bytes) -> None:
        """Serve whole requests; stop reading when more data is buffered than can be served now."""
        self._heard_at = self._loop.time()
        self._buffer.append(data)
        if self._can_serve:
            self._serve()
        self._steer_reading()

    def eof_received(self) -> bool:
        """The client sends no more; its buffered requests are answered, also one that waits.

        Kafka does not read, and so does not see the end, while a request is in progress or the
        client is throttled (KAFKA-7639, class Selector).
        """
        self._has_ended = True
        if self._can_serve:
            self._continue()
        return True

    def connection_lost(self, _exc: Exception | None) -> None:
        """Nothing can be read or written any more."""
        self._transport, self._has_ended = None, True
        self._abandon()
        self._untaken.leave(self)
        self._memory.leave(self._resume)
        self._give_back()
        self._buffer.clear()
        for handle in (self._idle_timer, self._held_by):
            if handle is not None:
                handle.cancel()
        self._on_lost(self)

    def pause_writing(self) -> None:
        """The client reads responses slower than the node sends them."""
        self._is_writable = False
        if self._transport is not None:
            self._untaken.wait_for(self, self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._untaken.leave(self)
        self._is_writable = True
        if self._waiting is None and self._held_by is None:
            self._continue()

    # Serving.

    @property
    def _can_serve(self) -> bool:
        return self._waiting is None and self._held_by is None and self._is_writable

    def _continue(self) -> None:
        """Go on serving: the reason to wait with the next request is over."""
        if self._held_by is not None:
            self._held_by.cancel()
            self._held_by = None
        if self._transport is None or self._transport.is_closing():
            return
        if self._can_serve:
            self._serve()
        self._steer_reading()

    def _serve(self) -> None:
        """Answer requests in their order, until one has to wait or there is none."""
        answers: list[bytes] = []
        try:
            self._answer_all(answers)
        except (RequestRejected, FrameRefused) as reason:
            _LOG.info("connection closed: %s", reason)
            self._give_up()
        except Exception:  # noqa: BLE001 - one bad request must not end the broker
            _LOG.exception("a request failed, its connection is closed")
            self._give_up()
        self._write(answers)
        if self._has_ended and self._can_serve and self._reserve():
            self.close()

    def _answer_all(self, answers: list[bytes]) -> None:
        for _ in range(_REQUESTS_IN_A_ROW):
            if not (self._buffer.knows_length() and self._reserve()):
                return
            payload = self._buffer.next_request()
            if payload is None:
                return
            begun = self._begin(payload)
            if isinstance(begun, WaitingRequest):
                self._waiting = begun
                begun.waiter.result.add_done_callback(self._finish)
                if not begun.keeps_request:
                    self._give_back()
                return
            self._give_back()
            self._take_answer(begun, answers)
            if sum(map(len, answers)) > _WRITTEN_TOGETHER_BYTES:
                self._write(answers)
            if not self._can_serve:
                return
        self._held_by = self._loop.call_soon(self._continue)  # the others are served too

    def _begin(self, payload: bytes) -> Response | WaitingRequest:
        """Carry out a request of this client. Raises RequestRejected."""
        if self._security is None:
            return self._node.begin(payload, self.ip, self._listener)
        if self._gate is None:
            user = self._user_by_certificate(self._security)
            return self._served(payload, user, may_ask_for_tokens=user != ANYBODY)
        begun = self._gate.begin(payload, self._served)
        self._buffer.limit_bytes = self._gate.limit_bytes
        return begun

    def _served(
        self, payload: bytes, user: str, *, may_ask_for_tokens: bool
    ) -> Response | WaitingRequest:
        return self._node.begin(
            payload, self.ip, self._listener, user, may_ask_for_tokens=may_ask_for_tokens
        )

    def _user_by_certificate(self, security: "ListenerSecurity") -> str:
        """Return the user of the client; known from the first request on."""
        if self._user == ANYBODY and self._transport is not None:
            self._user = security.user_by(self._transport)
        return self._user

    def _take_answer(self, response: Response, answers: list[bytes]) -> None:
        if response.closes_after_ms is not None:
            self._refuse(response)
            return
        if response.parts is not None:
            whole = [part for part in response.parts if not isinstance(part, BorrowedBuffer)]
            if len(whole) == len(response.parts):
                answers.append(frame(*whole))
            else:
                self._write_lent(response.parts, answers)
        if response.mute_ms > 0:
            self._held_by = self._loop.call_later(response.mute_ms / 1000, self._continue)

    def _finish(self, result: "asyncio.Future[Message | bytes]") -> None:
        """Send the response of the oldest request after its wait."""
        waiting = self._waiting
        if waiting is None or waiting.waiter.result is not result or result.cancelled():
            return
        self._node.purgatory.leave(waiting.waiter)
        self._waiting = None
        self._give_back()
        answers: list[bytes] = []
        try:
            self._take_answer(self._node.finish(waiting), answers)
        except RequestRejected as reason:
            _LOG.info("connection closed: %s", reason)
            self.close()
            return
        except Exception:  # noqa: BLE001 - as above
            _LOG.exception("a request failed, its connection is closed")
            self.close()
            return
        self._write(answers)
        if self._can_serve:
            self._continue()

    def _refuse(self, response: Response) -> None:
        """Send the answer and close, both after the delay; read nothing more."""
        _LOG.info("connection closed: %s", response.reason)
        self._buffer.clear()
        self._read(False)
        delay_s = (response.closes_after_ms or 0) / 1000
        self._held_by = self._loop.call_later(delay_s, self._end_refused, response)

    def _end_refused(self, response: Response) -> None:
        if response.parts is not None:
            self._write([frame(*(bytes(part) for part in response.parts))])
        self.close()

    def _give_up(self) -> None:
        """Read nothing more from this client."""
        self._has_ended = True
        self._buffer.clear()

    def _abandon(self) -> None:
        """Drop the waiting request: no client is left to read its response."""
        if self._waiting is not None:
            self._node.purgatory.leave(self._waiting.waiter)
            self._waiting = None
            self._give_back()

    # Writing, reading, ending.

    def _write(self, answers: list[bytes]) -> None:
        if answers and self._transport is not None and not self._transport.is_closing():
            self._transport.write(answers[0] if len(answers) == 1 else b"".join(answers))
        answers.clear()

    def _write_lent(self, parts: Sequence[bytes | BorrowedBuffer], answers: list[bytes]) -> None:
        """Send borrowed buffers immediately, behind the parts that precede them."""
        answers.append(frame_head(sum(map(len, parts))))
        for part in parts:
            if isinstance(part, BorrowedBuffer):
                self._write(answers)
                self._send(part)
            else:
                answers.append(part)

    def _send(self, part: BorrowedBuffer) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        socket = transport.get_extra_info("socket")
        is_clear = socket is not None and transport.get_extra_info("ssl_object") is None
        may_send = is_clear and transport.get_write_buffer_size() == 0
        try:
            if isinstance(part, FilePart) and may_send:
                left = part.send(socket.fileno())
            else:
                left = bytes(part)
        except FileTooShort as problem:
            _LOG.warning("connection closed in the middle of an answer: %s", problem)
            transport.abort()
        except OSError as error:
            part.on_error(error)
            transport.abort()
        else:
            if left:
                transport.write(left)

    def _steer_reading(self) -> None:
        """Read while the next request may come and there is memory for it."""
        if self._can_serve:
            self._read(self._reserve())
        elif self._buffer.size_bytes > _BACKLOG_BYTES:
            self._read(False)

    def _reserve(self) -> bool:
        """Take memory for the next request; False if none is left: then it waits.

        The frames of an authentication take none: class SaslServerAuthenticator has no pool.
        """
        wanted_bytes = self._buffer.request_bytes
        if self._gate is not None and not self._gate.is_open:
            return True
        if wanted_bytes <= self._memory.uncounted_bytes or self._reserved_bytes:
            return True
        if not self._memory.take(wanted_bytes, self._resume):
            return False
        self._reserved_bytes = wanted_bytes
        return True

    def _resume(self) -> None:
        """Go on after the wait for memory, on the loop's next turn: others may wait, too."""
        if self._reserve():
            self._held_by = self._loop.call_soon(self._continue)

    def _give_back(self) -> None:
        """Release the memory of the finished request, which keeps it while it waits, too."""
        reserved_bytes, self._reserved_bytes = self._reserved_bytes, 0
        self._memory.give_back(reserved_bytes)

    def _read(self, wanted: bool) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._has_ended or wanted is self._is_reading:
            return
        self._is_reading = wanted
        if wanted:
            self._heard_at = self._loop.time()
            transport.resume_reading()
        else:
            transport.pause_reading()

    def _look_whether_idle(self) -> None:
        """Close the connection if its client has been idle for too long.

        A client that sends slowly, or waits for memory, is not idle. A client that neither sends
        nor reads its responses is idle, also while its request waits (class Selector,
        maybeCloseOldestConnection).
        """
        assert self._idle_s is not None
        if self._is_writable and not self._is_reading:
            self._heard_at = self._loop.time()
        left_s = self._heard_at + self._idle_s - self._loop.time()
        if left_s <= 0 and self._is_writable:
            self.close()
        elif left_s <= 0:
            self.abort()
        else:
            self._idle_timer = self._loop.call_later(left_s, self._look_whether_idle)

    def close(self) -> None:
        """Send all written data, then close."""
        if self._transport is not None:
            self._transport.close()

    def close_after(self, delay_ms: int) -> None:
        """Serve nothing, and close after the time."""
        self._held_by = self._loop.call_later(delay_ms / 1000, self.abort)

    def abort(self) -> None:
        """Close now."""
        if self._transport is not None:
            self._transport.abort()

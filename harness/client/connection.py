"""One raw connection to a broker: exact versions, pipelining, deliberately wrong bytes.

Synchronous; every wait has a deadline. Nothing is negotiated or retried: what the caller asks for
is what goes over the wire. A transcript keeps the events as evidence.
"""

from __future__ import annotations

import socket
import struct
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Self, TypeVar, cast

from harness.base.pace import time_left
from harness.client import grease
from harness.client.entrance import Entrance
from harness.client.errors import (
    BrokenSilence,
    BrokerMisbehaved,
    ConnectionClosed,
    ResponseTimeout,
    WireViolation,
)
from harness.client.grants import FrameGate, Grants
from harness.client.transcript import Transcript
from harness.client.user_watch import UserFrames
from harness.client.wire_coverage import Observer
from harness.codec import CodecError
from harness.codec.apis import Api, api_of
from harness.codec.frame import LENGTH_BYTES, frame
from harness.codec.header import DEFAULT_CLIENT_ID, decode_response, encode_request
from harness.codec.messages import ProduceRequest
from harness.codec.structs import Message, Request
from harness.security.doors import Door

Address = tuple[str, int]
M = TypeVar("M", bound=Message)
DEFAULT_TIMEOUT_MS = 10_000
CLOSE_SHARE = 0.3
"""Of the timeout: a close asks no work of a broker, and Kafka 0.9 often does not come to it."""
FRAME_LIMIT_BYTES = 256 * 1024 * 1024
_READ_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A request that awaits an answer."""

    api: Api
    version: int
    correlation_id: int


def _is_unanswered(message: Message) -> bool:
    return isinstance(message, ProduceRequest) and message.acks == 0


class Connection:
    """A socket to ``address``; use as a context manager."""

    def __init__(
        self,
        address: Address,
        client_id: str | None = DEFAULT_CLIENT_ID,
        timeout_ms: float = DEFAULT_TIMEOUT_MS,
        observer: Observer | None = None,
        grants: Grants | None = None,
        greases: bool = False,
        authenticates: bool = True,
        door: Door | None = None,
        watch: UserFrames | None = None,
    ) -> None:
        """Connect at once; raises ConnectionClosed when refused, ResponseTimeout when silent.

        A secured listener is entered first, as :mod:`harness.security.doors` has it for the
        address: EntryRefused. The transcript begins behind that, so it has no secret of it.

        ``observer`` is called with each message that was encoded and sent, or received and decoded.
        With ``grants`` every send raises NotGranted for a request that must not go out.
        ``authenticates``: False leaves the SASL of the listener to the caller, with any request.
        ``door``: enters in place of the way that the address has.
        ``watch``: sees the frames, whatever is in them.
        ``greases``: messages go out with unknown tagged fields, see :mod:`harness.client.grease`.
        """
        self.address, self.client_id, self.timeout_ms = address, client_id, timeout_ms
        self._observer, self._greases, self._watch = observer, greases, watch
        is_free = grants is None or grants.everything or not authenticates
        self._gate = None if is_free or grants is None else FrameGate(grants)
        self.transcript = Transcript(f"to {address[0]}:{address[1]}")
        self._buffer = bytearray()
        self._awaited: deque[_Awaited] = deque()
        self._next_correlation_id = 1
        self._has_sent_raw = False
        self._entrance = Entrance(address, door)
        self._socket = self._entrance.enter(timeout_ms, authenticates=authenticates)
        self.transcript.add(self._entrance.event)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close our side; twice is fine."""
        self._socket.close()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    # -- requests and responses ------------------------------------------------------------

    def ask(self, message: Request[M], version: int, *, tolerant: bool = False) -> M:
        """Send one request and return its response, decoded at the same version.

        Strictly, as a judge reads; ``tolerant`` is for answers that prepare and are not judged.
        Raises ConnectionClosed, ResponseTimeout, WireViolation.
        """
        self.send(message, version)
        return cast("M", self.receive(tolerant=tolerant))

    def send(
        self,
        message: Message,
        version: int,
        *,
        correlation_id: int | None = None,
        client_id: str | None = "",
        header_tags: dict[int, bytes] | None = None,
    ) -> int:
        """Send without waiting; returns the correlation id. ``client_id`` "": the usual one."""
        if correlation_id is None:
            correlation_id = self._next_correlation_id
            self._next_correlation_id += 1
        client = self.client_id if client_id == "" else client_id
        self._keep_session()
        sent = message
        if self._greases and grease.is_greased(message, version):
            sent = grease.greased(message, version)
            header_tags = {**grease.TAGS, **(header_tags or {})}
        self.send_frame(encode_request(sent, version, correlation_id, client, header_tags))
        if self._observer is not None:
            self._observer(message, version)
        if not _is_unanswered(message):
            self.expect_answer(api_of(type(message)), version, correlation_id)
        return correlation_id

    @property
    def awaits_answer(self) -> bool:
        """True if a request is not answered yet; a Produce with acks=0 never is."""
        return bool(self._awaited)

    def expect_answer(self, api: Api, version: int, correlation_id: int) -> None:
        """Expect an answer to what ``send_frame`` or ``send_bytes`` sent, for ``receive``."""
        self._awaited.append(_Awaited(api, version, correlation_id))

    def forget_answer(self) -> None:
        """The request sent last gets no answer: the broker is to close, or sends bare bytes."""
        self._awaited.pop()

    def receive(self, timeout_ms: float | None = None, *, tolerant: bool = False) -> Message:
        """The next response; it must answer the oldest request that is not answered."""
        if not self._awaited:
            raise LookupError("no request is waiting for an answer")
        payload = self.receive_frame(timeout_ms)
        awaited = self._awaited.popleft()
        try:
            correlation_id, message = decode_response(
                awaited.api, awaited.version, payload, tolerant=tolerant
            )
        except CodecError as error:
            raise WireViolation(
                f"{awaited.api.name} v{awaited.version} answer: {error}", payload=payload
            ) from error
        if correlation_id != awaited.correlation_id:
            raise WireViolation(
                f"answer with correlation id {correlation_id}; "
                f"{awaited.correlation_id} is the oldest open request",
                payload=payload,
            )
        if self._observer is not None:
            self._observer(message, awaited.version)
        return message

    # -- bytes ---------------------------------------------------------------------------------

    def send_frame(self, payload: bytes) -> None:
        """Send ``payload`` with its length in front."""
        self._send_all(frame(payload), "sent", payload)
        if self._watch is not None:
            self._watch.sent(payload)

    def _keep_session(self) -> None:
        """Authenticate again before the session ends (KIP-368), where no answer is awaited and all
        that was sent were whole requests."""
        if self._awaited or self._buffer or self._has_sent_raw or not self._entrance.must_renew():
            return
        self._require_open()
        self._entrance.renew(self._socket, self.timeout_ms)
        self.transcript.add("authenticated again")

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._has_sent_raw = True
        self._send_all(data, "sent raw bytes", data)

    def send_under_tls(self, data: bytes) -> None:
        """Send bytes on the socket below the TLS of the connection."""
        self._require_open()
        self.transcript.add("sent bytes below TLS", data)
        with suppress(OSError):  # the broker may have closed the connection
            socket.socket.sendall(self._socket, data)

    def end_sending(self) -> None:
        """End our direction with FIN; the broker's answers still come."""
        self._require_open()
        self.transcript.add("ended our direction")
        with suppress(OSError):  # the broker may have closed the connection
            # of the plain socket's class: that of TLS would also forget how to read
            socket.socket.shutdown(self._socket, socket.SHUT_WR)

    def _require_open(self) -> None:
        """A use after our own close is the caller's mistake, never the broker's."""
        if self._socket.fileno() < 0:
            raise ValueError(f"this connection to {self.address} was closed on our side")

    def _send_all(self, data: bytes, event: str, shown: bytes) -> None:
        self._require_open()
        if self._gate is not None:
            self._gate.check(data)
        self.transcript.add(event, shown)
        self._socket.settimeout(self.timeout_ms / 1000)
        try:
            self._socket.sendall(data)
        except TimeoutError as error:
            raise ResponseTimeout("the broker does not read what we send") from error
        except OSError as error:
            self.transcript.add("closed by the broker")
            raise self._entrance.lost(self._socket, error) from error

    def exchange_token(self, token: bytes) -> bytes:
        """Send a token of an authentication in a frame of its own; return that of the broker.

        The evidence has neither. Raises as ``receive_frame``.
        """
        self._send_all(frame(token), "sent a token", b"")
        return self.receive_frame(is_secret=True)

    def receive_frame(self, timeout_ms: float | None = None, *, is_secret: bool = False) -> bytes:
        """The next frame's payload. Raises ConnectionClosed, ResponseTimeout, WireViolation.

        Nothing is lost by a timeout: called again, it goes on where it was.
        """
        deadline = self._deadline(timeout_ms)
        self._fill(LENGTH_BYTES, deadline)
        (length,) = struct.unpack_from(">i", self._buffer)
        if not 0 <= length <= FRAME_LIMIT_BYTES:
            raise WireViolation(f"a frame of length {length}")
        stop = LENGTH_BYTES + length
        self._fill(stop, deadline)
        payload = bytes(self._buffer[LENGTH_BYTES:stop])
        del self._buffer[:stop]
        if self._watch is not None:
            self._watch.received(payload)
        awaited = self._awaited[0] if self._awaited else None
        self.transcript.add(
            "received",
            b"" if is_secret else payload,
            awaited.api if awaited else None,
            awaited.version if awaited else -1,
        )
        return payload

    @property
    def unread(self) -> bytes:
        """Bytes that came and belong to no answer that was taken."""
        return bytes(self._buffer)

    def await_unread(self, count: int, timeout_ms: float) -> bytes:
        """Return the unread bytes when there are so many; fewer at the deadline or at a close."""
        with suppress(BrokerMisbehaved):
            self._fill(count, self._deadline(timeout_ms))
        return self.unread

    def expect_closed(self, timeout_ms: float | None = None) -> None:
        """The broker must close without sending anything more, by default in a third of the time
        that an answer may take.

        Raises WireViolation when bytes come, ResponseTimeout when the connection stays open.
        """
        if timeout_ms is None:
            timeout_ms = CLOSE_SHARE * self.timeout_ms
        deadline = self._deadline(timeout_ms)
        try:
            data = bytes(self._buffer) or self._read(deadline)
        except ConnectionClosed:
            return
        except ResponseTimeout:
            raise ResponseTimeout("the broker neither answered nor closed the connection") from None
        self.transcript.add("received instead of a close", data)
        raise WireViolation(f"{len(data)} bytes came where the connection had to be closed")

    def read_to_end(self) -> bytes:
        """Return the unread bytes when the broker has closed the connection.

        Raises ResponseTimeout when it stays open, as :meth:`expect_closed`.
        """
        deadline = self._deadline(CLOSE_SHARE * self.timeout_ms)
        while True:
            try:
                self._buffer += self._read(deadline)
            except ConnectionClosed:
                return bytes(self._buffer)

    def expect_silence(self, for_ms: float, at_most_ms: float | None = None) -> None:
        """Nothing may come, and the connection must stay open, for ``for_ms``.

        Longer on a machine that stands still meanwhile, up to ``at_most_ms``, see
        :func:`harness.base.pace.time_left`. Raises BrokenSilence.
        """
        for left_ms in time_left(for_ms, at_most_ms):
            try:
                data = bytes(self._buffer) or self._read(self._deadline(left_ms))
            except ResponseTimeout:
                continue
            self.transcript.add("received instead of silence", data)
            raise BrokenSilence(f"{len(data)} bytes came where nothing was to be sent")

    def _deadline(self, timeout_ms: float | None) -> float:
        return time.monotonic() + (self.timeout_ms if timeout_ms is None else timeout_ms) / 1000

    def _fill(self, count: int, deadline: float) -> None:
        """Read until ``count`` bytes are there; the error of a partial answer contains its size."""
        while len(self._buffer) < count:
            try:
                self._buffer += self._read(deadline)
            except BrokerMisbehaved as error:
                if self._buffer:
                    error.args = (f"{error} ({len(self._buffer)} bytes of an answer came)",)
                raise

    def _read(self, deadline: float) -> bytes:
        self._require_open()
        left = deadline - time.monotonic()
        if left <= 0:
            raise ResponseTimeout("no answer before the deadline")
        self._socket.settimeout(left)
        try:
            data = self._socket.recv(_READ_BYTES)
        except TimeoutError:
            raise ResponseTimeout("no answer before the deadline") from None
        except OSError as error:
            self.transcript.add("closed by the broker")
            raise self._entrance.lost(self._socket, error) from error
        if not data:
            self.transcript.add("closed by the broker")
            raise ConnectionClosed("the broker closed the connection")
        self._entrance.was_heard = True
        return data

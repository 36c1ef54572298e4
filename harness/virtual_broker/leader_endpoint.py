"""A virtual leader's listener for its followers: Fetch at every version from 12 on.

A follower of 2.7 and later sends nothing else; the listener records its fetches. One thread
accepts, one serves each connection, and all have ended when :meth:`LeaderEndpoint.close` returns.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass, field
from typing import Self

from harness.client.requests import Topic
from harness.codec import CodecError
from harness.codec.error_code import ErrorCode
from harness.codec.frame import LENGTH_BYTES, frame
from harness.codec.header import decode_request_header, encode_response
from harness.codec.message_codec import decode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.virtual_broker.peer_endpoint import Address
from harness.virtual_broker.served_log import ServedLog

LOOPBACK = "127.0.0.1"
FETCH_KEY, FIRST_WITH_DIVERGENCE = 1, 12
FRAME_LIMIT_BYTES = 1 << 20
END_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A follower's fetch of the served partition; ``last_epoch`` is -1 if its log is empty."""

    offset: int
    last_epoch: int


@dataclass(slots=True)
class LeaderEndpoint:
    """A listener on a free port of this machine; use as a context manager.

    ``log`` is served as partition 0 of ``topic``; None while no fetch is answered with records.
    :meth:`serve` changes both. ``asked`` has all fetches of the partition, oldest first.
    """

    topic: Topic | None = None
    log: ServedLog | None = None
    asked: list[ReceivedRequest] = field(default_factory=list)
    _listener: socket.socket = field(
        default_factory=lambda: socket.create_server((LOOPBACK, 0)), init=False
    )
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)
    _sockets: set[socket.socket] = field(default_factory=set, init=False)
    _threads: list[threading.Thread] = field(default_factory=list, init=False)
    _closed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def address(self) -> Address:
        """The listener's address, for a registration."""
        host, port = self._listener.getsockname()[:2]
        return (host, port)

    def serve(self, topic: Topic, log: ServedLog | None) -> None:
        """Serve this log from now on, and wake the waiting fetches."""
        with self._changed:
            self.topic, self.log = topic, log
            self._changed.notify_all()

    def close(self) -> None:
        """Close all sockets and end all threads. Twice is fine."""
        with self._changed:
            self._closed = True
            sockets = [*self._sockets, self._listener]
            self._changed.notify_all()
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(END_TIMEOUT_S)

    # -- threads -----------------------------------------------------------------------------------

    def _start(self, run: object, *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments, name="virtual leader")  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._changed:
                if self._closed:
                    connection.close()
                    return
                self._sockets.add(connection)
            self._start(self._attend, connection)

    def _attend(self, connection: socket.socket) -> None:
        """Answer requests until either side closes, or the request is none of a follower."""
        with contextlib.suppress(OSError, EOFError, CodecError), connection:
            while True:
                answer = self._answer(_frame_from(connection))
                if answer is None:
                    return
                connection.sendall(frame(answer))

    def _answer(self, payload: bytes) -> bytes | None:
        header, start = decode_request_header(payload)
        version = header.request_api_version
        if header.request_api_key != FETCH_KEY or version < FIRST_WITH_DIVERGENCE:
            return None
        request = decode(FetchRequest, version, payload, start)
        with self._changed:
            found = self._wanted(request)
            if found is not None:
                self.asked.append(ReceivedRequest(found.fetch_offset, found.last_fetched_epoch))
                wait_s = request.max_wait_ms / 1000
                self._changed.wait_for(lambda: self._closed or self._has_news(found), wait_s)
            if self._closed:
                return None
            topics = [self._about(topic) for topic in request.topics]
        return encode_response(FetchResponse(responses=topics), version, header.correlation_id)

    # -- under the lock ----------------------------------------------------------------------------

    def _is_ours(self, topic: FetchRequest.FetchTopic) -> bool:
        ours = self.topic
        return ours is not None and (topic.topic == ours.name or topic.topic_id == ours.id)

    def _wanted(self, request: FetchRequest) -> FetchRequest.FetchPartition | None:
        every = (one for t in request.topics if self._is_ours(t) for one in t.partitions)
        return next(every, None)

    def _has_news(self, wanted: FetchRequest.FetchPartition) -> bool:
        log, offset = self.log, wanted.fetch_offset
        if log is None:
            return False
        return offset != log.end or log.diverges(offset, wanted.last_fetched_epoch) is not None

    def _about(self, topic: FetchRequest.FetchTopic) -> FetchResponse.FetchableTopicResponse:
        ours = self._is_ours(topic)
        told = [self._told(one) if ours else _unknown(one) for one in topic.partitions]
        return FetchResponse.FetchableTopicResponse(
            topic=topic.topic, topic_id=topic.topic_id, partitions=told
        )

    def _told(self, wanted: FetchRequest.FetchPartition) -> FetchResponse.PartitionData:
        log, offset = self.log, wanted.fetch_offset
        if log is None:
            return _unknown(wanted)
        told = FetchResponse.PartitionData(
            partition_index=wanted.partition,
            high_watermark=log.high_watermark,
            last_stable_offset=log.high_watermark,
            log_start_offset=0,
            records=b"",
        )
        diverging = log.diverges(offset, wanted.last_fetched_epoch)
        if diverging is not None:
            told.diverging_epoch = FetchResponse.EpochEndOffset(
                epoch=diverging[0], end_offset=diverging[1]
            )
        elif offset < log.end:
            told.records = log.batches(offset)
        return told


def _unknown(wanted: FetchRequest.FetchPartition) -> FetchResponse.PartitionData:
    """Return the error for a partition that is not served, or not yet: followers retry."""
    return FetchResponse.PartitionData(
        partition_index=wanted.partition,
        error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
        high_watermark=-1,
        records=b"",
    )


def _frame_from(connection: socket.socket) -> bytes:
    """Return the next frame. Raises EOFError: the end of the stream, or an impossible length."""
    (length,) = struct.unpack(">i", _exactly(connection, LENGTH_BYTES))
    if not 0 <= length <= FRAME_LIMIT_BYTES:
        raise EOFError
    return _exactly(connection, length)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data

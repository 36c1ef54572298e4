"""A server that plays one script to the first connection, on a thread of its own."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.client.connection import Address
from harness.codec.apis import api_for_key
from harness.codec.frame import frame
from harness.codec.header import decode_request_header, encode_response
from harness.codec.message_codec import decode
from harness.codec.structs import Message
from labs.hang_limit import HANGS_AFTER_S

LIMIT_S = HANGS_AFTER_S


class Peer:
    """The server's end of the connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock

    def read_exactly(self, count: int) -> bytes:
        """Raises EOFError when the client closes before."""
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def read_frame(self) -> bytes:
        """The next request's payload."""
        (length,) = struct.unpack(">i", self.read_exactly(4))
        return self.read_exactly(length)

    def read_request(self) -> tuple[int, Message]:
        """(correlation id, body) of the next request."""
        payload = self.read_frame()
        header, start = decode_request_header(payload)
        api = api_for_key(header.request_api_key)
        body = decode(api.request, header.request_api_version, payload, start)
        return header.correlation_id, body

    def answer(self, message: Message, version: int, correlation_id: int) -> None:
        """Send one response."""
        self.send(frame(encode_response(message, version, correlation_id)))

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)

    def reset(self) -> None:
        """Close with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def read_to_end(self) -> bytes:
        """All that the client sends until it closes or resets."""
        data = b""
        try:
            while piece := self.socket.recv(65536):
                data += piece
        except ConnectionResetError:
            data += b"(reset)"
        return data


@contextmanager
def scripted(script: Callable[[Peer], object]) -> Iterator[Address]:
    """The address that plays ``script``; what the script raises is raised at the end."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(LIMIT_S)
    raised: list[BaseException] = []

    def serve() -> None:
        try:
            sock, _ = listener.accept()
            with sock:
                sock.settimeout(LIMIT_S)
                script(Peer(sock))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=serve, name="scripted peer")
    thread.start()
    try:
        yield listener.getsockname()
    finally:
        thread.join(LIMIT_S)
        listener.close()
    assert not thread.is_alive()
    if raised:
        raise raised[0]

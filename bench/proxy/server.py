"""The server behind all peers: answers a fetch at once, swallows what wants no answer."""

from __future__ import annotations

import socket
import struct
import sys
import threading

from bench.proxy.frames import ANSWER_BYTES, PING_BYTES, pong

BULK_REQUESTS = 512  # one response after so many requests shows that they have arrived
READ_BYTES = 1 << 18
_HEAD = struct.Struct(">ih")


def serve(connection: socket.socket) -> None:
    """Requests in, answers out, until the client ends."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    small, large = pong(), pong(ANSWER_BYTES)
    unanswered, left = 0, b""
    with connection:
        while data := connection.recv(READ_BYTES):
            at, data = 0, left + data if left else data
            while len(data) - at >= _HEAD.size:
                length, key = _HEAD.unpack_from(data, at)
                if len(data) - at < length + 4:
                    break
                at += length + 4
                if key == 0:
                    unanswered += 1
                    if unanswered % BULK_REQUESTS == 0:
                        connection.sendall(small)
                else:
                    connection.sendall(small if length + 4 == PING_BYTES else large)
            left = data[at:]


def main() -> int:
    """Print the port, and serve until killed."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())

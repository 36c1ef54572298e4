"""Pieces of files that go to sockets: whole, in part, and from a file that has changed."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.reference_broker.connection import ClientConnection
from harness.reference_broker.connection_places import Admission
from harness.reference_broker.file_part import FilePart, FileTooShort
from harness.reference_broker.node import Node, Response
from harness.reference_broker.outbound_limit import OutboundLimit
from harness.reference_broker.request_memory import RequestMemory
from labs.hang_limit import HANGS_AFTER_S

DATA = os.urandom(3 << 20)
BEGIN, END = 1_000, len(DATA) - 7
Descriptor = Callable[[], int]
HEAD, TAIL = b"head", b"tail"


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Descriptor]:
    (tmp_path / "x.log").write_bytes(DATA)
    opened = os.open(tmp_path / "x.log", os.O_RDWR)
    yield lambda: opened
    os.close(opened)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        reader = socket.create_connection(listening.getsockname())
        writer, _ = listening.accept()
    writer.setblocking(False)
    with reader, writer:
        yield reader, writer


def test_send_returns_bytes_that_socket_did_not_accept(
    file: Descriptor, ends: tuple[socket.socket, socket.socket]
) -> None:
    reader, writer = ends
    writer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
    part = FilePart(file, BEGIN, END - BEGIN)
    left = part.send(writer.fileno())
    writer.close()
    sent = b"".join(iter(lambda: reader.recv(1 << 20), b""))
    assert 0 < len(sent) < len(part) == len(sent) + len(left)
    assert sent + left == bytes(part) == DATA[BEGIN:END]


def test_send_to_shut_down_socket_returns_all_bytes(
    file: Descriptor, ends: tuple[socket.socket, socket.socket]
) -> None:
    _, writer = ends
    writer.shutdown(socket.SHUT_WR)
    assert FilePart(file, BEGIN, 100).send(writer.fileno()) == DATA[BEGIN : BEGIN + 100]


def test_truncated_file_raises_file_too_short(
    file: Descriptor, ends: tuple[socket.socket, socket.socket]
) -> None:
    part = FilePart(file, BEGIN, 1 << 20)
    os.ftruncate(file(), BEGIN + 10)
    with pytest.raises(FileTooShort, match=f"{(1 << 20) - 10} of {1 << 20} bytes"):
        part.send(ends[1].fileno())
    with pytest.raises(FileTooShort):
        bytes(part)


class AnswersWith:
    """A node that returns one answer to every request."""

    def __init__(self, part: BorrowedBuffer) -> None:
        self._part = part

    def begin(self, _payload: bytes, _host: str, _listener: str) -> Response:
        return Response([HEAD, self._part, TAIL])


def asked(part: BorrowedBuffer, times: int, *, slowly: bool = False) -> bytes:
    """The bytes that a client receives for so many requests at once, until the connection ends."""

    async def run() -> bytes:
        memory, untaken = RequestMemory(1 << 20), OutboundLimit(1 << 30)
        node = cast("Node", AnswersWith(part))
        server = await asyncio.get_running_loop().create_server(
            lambda: ClientConnection(
                node, memory, untaken, 1 << 20, 0, "L", lambda _: Admission.SERVED, lambda _: None
            ),
            "127.0.0.1",
            0,
        )
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(struct.pack(">i4s", 4, b"ping") * times)
            writer.write_eof()
            found = bytearray()
            try:
                while got := await reader.read(4_000 if slowly else 1 << 20):
                    found += got
            except ConnectionResetError:
                pass
            writer.close()
        return bytes(found)

    return asyncio.run(asyncio.wait_for(run(), HANGS_AFTER_S))


@pytest.mark.parametrize("slowly", [False, True])
def test_responses_with_file_parts_arrive_whole_and_in_order(
    file: Descriptor, slowly: bool
) -> None:
    part = FilePart(file, BEGIN, END - BEGIN)
    answer = HEAD + DATA[BEGIN:END] + TAIL
    assert asked(part, 3, slowly=slowly) == (struct.pack(">i", len(answer)) + answer) * 3


def test_response_with_truncated_file_ends_connection(file: Descriptor) -> None:
    part = FilePart(file, BEGIN, 1 << 20)
    os.ftruncate(file(), BEGIN + 10)
    head = struct.pack(">i", (1 << 20) + len(HEAD) + len(TAIL)) + HEAD
    assert (head + DATA[BEGIN : BEGIN + 10]).startswith(asked(part, 2))


def test_read_error_of_file_part_is_passed_to_on_error(tmp_path: Path) -> None:
    told: list[OSError] = []
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        part = FilePart(lambda: folder, 0, 1 << 20)
        part.on_error = told.append
        assert len(asked(part, 2)) <= 8
    finally:
        os.close(folder)
    assert [type(error) for error in told] == [IsADirectoryError]

"""Limits on the memory that many connections together may use, over real sockets."""

from __future__ import annotations

import socket

import pytest

from harness.client.connection import Connection
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.records import Record, RecordBatch, encode_batch
from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.running import create_topic, running_broker
from tests.reference_broker.test_server import fetch, produce

MIB = 1024 * 1024
LARGE_BYTES = 8 * MIB  # more than sockets hold


def test_clients_that_do_not_read_are_dropped_above_response_memory_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.reference_broker.server.answer_memory_bytes", lambda: 20 * MIB)
    records = encode_batch(RecordBatch(records=[Record(bytes(LARGE_BYTES), None)]))
    limits = {"message.max.bytes": str(2 * LARGE_BYTES)}
    with running_broker(limits) as address:
        create_topic(address, "large")
        with Connection(address) as connection:
            connection.ask(produce("large", records=records), 7)
        asked = frame(encode_request(fetch("large", max_bytes=2 * LARGE_BYTES), 4, 5))
        readers = []
        for _ in range(8):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(HANGS_AFTER_S)
            reader.connect(address)
            reader.sendall(asked)
            assert len(reader.recv(4, socket.MSG_WAITALL)) == 4
            readers.append(reader)
        whole = [read_on(reader) > LARGE_BYTES for reader in readers]
        for reader in readers:
            reader.close()
    assert whole[0] is False
    assert whole[-1] is True
    assert 1 <= sum(whole) <= 4


def read_on(reader: socket.socket) -> int:
    """Read the rest of an answer after its length, and return the count of bytes."""
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, MIB)
    size = 0
    try:
        while size <= LARGE_BYTES and (data := reader.recv(65536)):
            size += len(data)
    except ConnectionError:
        pass
    return size

"""TLS: clients that do not finish their handshake."""

from __future__ import annotations

import ssl
from contextlib import suppress

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.client.tls_clients import PLAINTEXT
from harness.conformance.checks import requirement
from harness.runner.marks import judges, needs_listener
from suites.protocol.support.sasl import expect_served
from suites.protocol.support.tls import tls_clients_of

OF_EACH = 8
LENGTHS = range(1, 1 << 24)
"""Of frames of Kafka. A record of TLS begins with 21 or more; some releases send a buffer of zeros
to a broken handshake.
"""
LENGTH_BYTES = 4
HEADER_BYTES = 5
FIRST_BYTE_MS = 250
MORE_BYTES = 4_096
"""More than the record that was begun."""


def _client_hello() -> bytes:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    outgoing = ssl.MemoryBIO()
    handshake = context.wrap_bio(ssl.MemoryBIO(), outgoing)
    try:
        handshake.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()
    raise AssertionError("no broker has answered")


@judges("TLS-005")
@needs_listener(tls=True)
def test_half_open_handshakes_keep_no_other_client_out(broker: BrokerUnderTest) -> None:
    """Nothing, a part of the first record, the whole of it and no more, a part of the second."""
    tls_clients_of(broker)
    hello = _client_hello()
    beginnings = {
        "nothing": b"",
        "the header of a record": hello[:HEADER_BYTES],
        "half a hello": hello[: len(hello) // 2],
        "a whole hello": hello,
    }
    served = broker.connect()
    with requirement("TLS-005") as check:
        half_open = {name: _opened(broker, data) for name, data in beginnings.items()}
        with check.subtest("clients beside them"):
            expect_served(broker, served)
            expect_served(broker, broker.connect())
        for name, connections in half_open.items():
            with check.subtest(name):
                assert len(connections) == OF_EACH, f"{len(connections)} clients are accepted"
                _expect_no_answer(broker, connections[0], name)
                _expect_other_bytes_to_close(connections[1])
        with check.subtest("a client behind them"):
            expect_served(broker, broker.connect())


def _opened(broker: BrokerUnderTest, data: bytes) -> list[Connection]:
    connections = []
    for _ in range(OF_EACH):
        with suppress(ConnectionClosed):  # a listener that refuses it is judged below
            connection = broker.connect(door=PLAINTEXT)
            connection.send_bytes(data)
            connections.append(connection)
    return connections


def _expect_no_answer(broker: BrokerUnderTest, connection: Connection, name: str) -> None:
    came = connection.await_unread(1, broker.scaled_ms(FIRST_BYTE_MS))
    assert not _is_answer(came), f"{name}: {came[:16].hex()} is the answer"


def _expect_other_bytes_to_close(connection: Connection) -> None:
    """Bytes behind it that are no TLS end the connection; an alert may come before."""
    connection.send_under_tls(bytes(MORE_BYTES))
    rest = connection.read_to_end()
    assert not _is_answer(rest), f"{rest[:16].hex()} is the answer to bytes without TLS"


def _is_answer(data: bytes) -> bool:
    return int.from_bytes(data[:LENGTH_BYTES], "big") in LENGTHS

"""TLS: bytes of clients that know of no TLS."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.tls_clients import PLAINTEXT
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    MetadataRequest,
    ProduceRequest,
    SaslHandshakeRequest,
)
from harness.codec.structs import Message
from harness.conformance.checks import requirement
from harness.runner.marks import judges, needs_listener
from suites.protocol.support.sasl import expect_served
from suites.protocol.support.tls import tls_clients_of

ALERT = b"\x15"
"""The first byte of a record of TLS with an alert; that of an answer of Kafka is a zero."""
CORRELATION_ID = 1
FIRST_BYTE_MS = 3_000


def _frames(broker: BrokerUnderTest) -> dict[str, bytes]:
    produce = ProduceRequest(transactional_id=None, acks=1, timeout_ms=1000, topic_data=[])
    requests: dict[str, tuple[Message, int]] = {
        "ApiVersions v0": (ApiVersionsRequest(), 0),
        "ApiVersions": (
            ApiVersionsRequest(client_software_name="kc", client_software_version="1"),
            broker.version("ApiVersions"),
        ),
        "Metadata": (MetadataRequest(topics=[]), broker.version("Metadata")),
        "Produce": (produce, broker.version("Produce", "3+")),
        "SaslHandshake": (SaslHandshakeRequest(mechanism="PLAIN"), 1),
    }
    return {
        name: frame(encode_request(message, version, CORRELATION_ID, "kc"))
        for name, (message, version) in requests.items()
    }


@judges("TLS-001")
@needs_listener(tls=True)
def test_plaintext_requests_end_the_connection_without_an_answer(broker: BrokerUnderTest) -> None:
    """Each alone, and in single bytes; then clients with TLS are served as before."""
    tls_clients_of(broker)
    with requirement("TLS-001") as check:
        for name, sent in _frames(broker).items():
            with check.subtest(name):
                connection = broker.connect(door=PLAINTEXT)
                connection.send_bytes(sent)
                _expect_no_answer(broker, connection, name)
        with check.subtest("in single bytes"):
            connection = broker.connect(door=PLAINTEXT)
            for byte in _frames(broker)["ApiVersions v0"]:
                connection.send_under_tls(bytes([byte]))
            _expect_no_answer(broker, connection, "in single bytes")
        with check.subtest("behind TLS"):
            expect_served(broker, broker.connect())


@judges("TLS-001")
@needs_listener(tls=True)
def test_plaintext_behind_a_handshake_ends_the_connection(broker: BrokerUnderTest) -> None:
    """Beside the records of TLS, on a connection that was served."""
    tls_clients_of(broker)
    with requirement("TLS-001"):
        connection = broker.connect()
        expect_served(broker, connection)
        connection.send_under_tls(_frames(broker)["ApiVersions v0"])
        rest = connection.read_to_end()
        assert rest == b"", f"{len(rest)} bytes are the answer to plaintext behind a handshake"


def _expect_no_answer(broker: BrokerUnderTest, connection: Connection, what: str) -> None:
    """The broker sends nothing, or an alert, and closes the connection."""
    came = connection.await_unread(1, broker.scaled_ms(FIRST_BYTE_MS))
    assert came[:1] in (b"", ALERT), f"{what}: {came[:16].hex()} is the answer to plaintext"
    connection.read_to_end()

"""TLS: plain bytes at a TLS listener, and the certificates of clients."""

from __future__ import annotations

import socket
import struct
import time

from harness.client.broker import BrokerUnderTest
from harness.client.credentials import credentials_at, has_tls, without_certificate
from harness.client.errors import ConnectionClosed
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ApiVersionsRequest, MetadataRequest
from harness.conformance.checks import requirement
from harness.conformance.outcome import NotApplicable
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.sasl import expect_served

NEEDED = "a listener with TLS"
ALERT = 21
CORRELATION_ID = 0x5A5A5A5A


@judges("TLS-001")
@at_versions("Metadata")
def test_plain_bytes_get_no_answer_of_kafka(broker: BrokerUnderTest, api_version: int) -> None:
    """Neither Metadata nor ApiVersions: a TLS alert or nothing comes, and the connection closes."""
    if not has_tls(broker.address):
        raise NotApplicable(NEEDED)
    requests = {
        "Metadata": encode_request(MetadataRequest(topics=[]), api_version, CORRELATION_ID),
        "ApiVersions": encode_request(ApiVersionsRequest(), 0, CORRELATION_ID),
    }
    with requirement("TLS-001") as check:
        for name, payload in requests.items():
            with check.subtest(name):
                data = _answer_of(broker, frame(payload))
                assert struct.pack(">i", CORRELATION_ID) not in data, f"{name} is answered"
                assert not data or data[0] == ALERT, f"{data[:16]!r} is no TLS alert"


def _answer_of(broker: BrokerUnderTest, data: bytes) -> bytes:
    """All bytes until the broker closes; it has to, within the time of an answer."""
    received, deadline = b"", time.monotonic() + broker.scaled_ms(10_000) / 1000
    with socket.create_connection(broker.address, 10) as plain:
        plain.sendall(data)
        while True:
            plain.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                more = plain.recv(4096)
            except ConnectionError:
                return received
            if not more:
                return received
            received += more


@judges("TLS-002")
@needs_broker(Use.TUNED, {"ssl.client.auth": "required"})
@at_versions("Metadata")
def test_a_required_certificate_is_required(broker: BrokerUnderTest, api_version: int) -> None:
    """A client with one is served, a client without one gets no answer."""
    _judge(broker, api_version, admits_all=False)


@judges("TLS-002")
@needs_broker(Use.TUNED, {"ssl.client.auth": "requested"})
@at_versions("Metadata")
def test_a_requested_certificate_is_optional(broker: BrokerUnderTest, api_version: int) -> None:
    """Clients with one and without one are served."""
    _judge(broker, api_version, admits_all=True)


@judges("TLS-002")
@at_versions("Metadata")
def test_by_default_no_certificate_is_needed(broker: BrokerUnderTest, api_version: int) -> None:
    """Clients with one and without one are served."""
    _judge(broker, api_version, admits_all=True)


def _judge(broker: BrokerUnderTest, version: int, *, admits_all: bool) -> None:
    if not has_tls(broker.address) or credentials_at(broker.address) is not None:
        raise NotApplicable("a listener with TLS and without SASL")  # KIP-684
    with requirement("TLS-002") as check:
        with check.subtest("with a certificate"):
            expect_served(broker, broker.connect())
        with check.subtest("without one"):
            with without_certificate(broker.address):
                assert _is_served(broker, version) is admits_all


def _is_served(broker: BrokerUnderTest, version: int) -> bool:
    """True if a new connection gets an answer to Metadata, or may begin its SASL."""
    try:
        connection = broker.connect()
        return bool(connection.ask(MetadataRequest(topics=[]), version) is not None)
    except ConnectionClosed:
        return False

"""Clients that break the rules of the authentication: none gets in, and others are served."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psutil
import pytest

from harness.client.connection import Connection
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ApiVersionsRequest, MetadataRequest
from tests.reference_broker.authentication.conftest import Secured
from tests.reference_broker.authentication.exchanges import (
    authenticate,
    final_of,
    handshake,
)
from tests.reference_broker.authentication.hostile_client import HostileClient

METADATA = encode_request(MetadataRequest(topics=[]), 4, 7)
VERSIONS = encode_request(ApiVersionsRequest(), 0, 7)
FIRST = "n,,n=judge,r=of-the-client"
SCRAM = "SCRAM-SHA-256"
MOST_BYTES = 524_288
CROWD = 60
MORE_BYTES = 48 * 1024 * 1024
Attack = Callable[[HostileClient, str], object]


@pytest.fixture(autouse=True)
def _others_are_served(secured: Secured) -> Iterator[None]:
    yield
    with Connection(secured.address) as connection:
        assert connection.ask(MetadataRequest(topics=[]), 4).brokers


def plain(password: str) -> bytes:
    return f"\0judge\0{password}".encode()


def final(client: HostileClient, change: Callable[[str, bytes], str], password: str) -> None:
    """Begin SCRAM rightly, and end it by a changed client-final."""
    client.begin(SCRAM)
    challenge = client.token(FIRST.encode())
    assert challenge is not None
    assert challenge.auth_bytes
    right = final_of(FIRST, bytes(challenge.auth_bytes), password)
    answer = client.token(change(right.bare, right.proof).encode())
    assert answer is None or answer.error_code == 58


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


ATTACKS: dict[str, Attack] = {
    "a request first": lambda client, _: client.send(frame(METADATA)),
    "a token first": lambda client, password: client.send(frame(plain(password))),
    "SaslAuthenticate first": lambda client, password: client.send(
        frame(authenticate(plain(password)))
    ),
    "an empty frame": lambda client, _: client.send(frame(b"")),
    "versions twice": lambda client, _: client.send(frame(VERSIONS) * 2 + frame(METADATA)),
    "a negative length": lambda client, _: client.send(struct.pack(">i", -1)),
    "a length above the limit": lambda client, _: client.send(struct.pack(">i", MOST_BYTES + 1)),
    "the largest length": lambda client, _: client.send(struct.pack(">i", 2**31 - 1)),
    "a token above the limit": lambda client, _: (
        client.begin("PLAIN"),
        client.send(struct.pack(">i", MOST_BYTES + 1)),
    ),
    "a bare token after v1": lambda client, password: (
        client.begin("PLAIN"),
        client.send(frame(plain(password))),
    ),
    "SaslAuthenticate after v0": lambda client, password: (
        client.begin("PLAIN", 0),
        client.send(frame(authenticate(plain(password)))),
    ),
    "a request in the exchange": lambda client, _: (
        client.begin("PLAIN"),
        client.send(frame(METADATA)),
    ),
    "a second handshake": lambda client, _: (
        client.begin("PLAIN"),
        client.send(frame(handshake(SCRAM))),
    ),
    "a wrong password and requests behind": lambda client, password: client.send(
        frame(handshake("PLAIN")) + frame(authenticate(plain(password + "x"))) + frame(METADATA)
    ),
    "half of SCRAM and a request": lambda client, _: client.send(
        frame(handshake(SCRAM)) + frame(authenticate(FIRST.encode())) + frame(METADATA)
    ),
    "another mechanism than chosen": lambda client, password: (
        client.begin(SCRAM),
        client.token(plain(password)),
    ),
    "a proof of zeros": lambda client, password: final(
        client, lambda bare, proof: f"{bare},p={encoded(bytes(len(proof)))}", password
    ),
    "a short proof": lambda client, password: final(
        client, lambda bare, proof: f"{bare},p={encoded(proof[:-1])}", password
    ),
    "a long proof": lambda client, password: final(
        client, lambda bare, proof: f"{bare},p={encoded(proof + b'x')}", password
    ),
    "no proof": lambda client, password: final(client, lambda bare, _: bare, password),
    "another nonce": lambda client, password: final(
        client, lambda bare, proof: f"{bare}x,p={encoded(proof)}", password
    ),
    "the proof of another password": lambda client, password: final(
        client, lambda bare, proof: f"{bare},p={encoded(proof)}", password + "x"
    ),
    "an unknown user": lambda client, _: (
        client.begin(SCRAM),
        client.token(b"n,,n=unknown,r=abc"),
    ),
    "a delegation token": lambda client, _: (
        client.begin(SCRAM),
        client.token(b"n,,n=judge,r=abc,tokenauth=true"),
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_the_broker_closes_and_serves_no_request(secured: Secured, name: str) -> None:
    """No answer to Metadata comes: its correlation id is 7, or its list of brokers is empty."""
    with HostileClient(secured.address, secured.ca) as client:
        ATTACKS[name](client, secured.password)
        client.send(frame(METADATA))
        while (answer := client.read()) is not None:
            assert str(secured.address.port).encode() not in answer
            assert struct.pack(">i", secured.address.port) not in answer[8:40]
        assert client.is_closed()


def test_a_proof_is_of_no_use_in_another_exchange(secured: Secured) -> None:
    with HostileClient(secured.address, secured.ca) as client:
        client.begin(SCRAM)
        challenge = client.token(FIRST.encode())
        assert challenge is not None
        seen = final_of(FIRST, bytes(challenge.auth_bytes), secured.password).token
    with HostileClient(secured.address, secured.ca) as client:
        client.begin(SCRAM)
        client.token(FIRST.encode())
        answer = client.token(seen)
        assert answer is not None
        assert answer.error_code == 58
        assert client.is_closed()


@pytest.mark.parametrize("data", [frame(METADATA), b"\x16\x03\x01\xff\xff" * 10, b"\0" * 64])
def test_bytes_without_tls_get_no_kafka_answer(secured: Secured, data: bytes) -> None:
    with HostileClient(secured.address, None) as client:
        client.send(data)
        client.send(b"\0" * 70_000)
        answer = client._exactly(5)
        assert answer is None or answer[0] == 21  # a TLS alert


def test_half_open_clients_take_a_bounded_memory_and_keep_no_other_out(secured: Secured) -> None:
    """Some never finish TLS, some stop in a token of half a megabyte, some in an exchange."""
    process = psutil.Process(secured.target.pid)
    served = process.memory_info().rss
    half = struct.pack(">i", MOST_BYTES) + bytes(MOST_BYTES // 2)
    with ExitStack() as crowd:
        for _ in range(CROWD):
            silent = crowd.enter_context(HostileClient(secured.address, None))
            silent.send(b"\x16\x03\x01\x02\x00\x01")
            begun = crowd.enter_context(HostileClient(secured.address, secured.ca))
            begun.begin(SCRAM)
            begun.send(half)
        with Connection(secured.address) as connection:
            assert connection.ask(MetadataRequest(topics=[]), 4).brokers
        assert process.memory_info().rss - served < MORE_BYTES
    with Connection(secured.address) as connection:
        assert connection.ask(MetadataRequest(topics=[]), 4).brokers

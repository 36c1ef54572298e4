"""External brokers, and servers that are none."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.targets.errors import TargetStartError
from harness.targets.external import ExternalBroker
from harness.targets.info import probe
from tests.targets import kinds


@contextmanager
def listener(answer: bytes | None) -> Iterator[Address]:
    """Accept connections and send ``answer`` once bytes came; None: never answer."""
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            held.append(connection)
            if answer is not None:
                with suppress(OSError):  # the client may be gone
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_RDWR)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Address(*server.getsockname())
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for each in held:
                each.close()


def failure(address: Address, timeout_ms: int = 5000) -> str:
    with pytest.raises(TargetStartError) as caught:
        ExternalBroker([address], answer_timeout_ms=timeout_ms).start()
    assert str(address) in str(caught.value)
    assert "PLAINTEXT" in str(caught.value)
    return str(caught.value)


def test_refused_connection_raises_target_start_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = Address(*server.getsockname())
    assert "refused: nothing listens there" in failure(address)


def test_silent_listener_raises_target_start_error_after_timeout() -> None:
    with listener(None) as address:
        assert "no answer within 300 ms" in failure(address, 300)


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\x00\x00\x00\x06\x00\x00\x00\x63\x00\x00"],
    ids=["http", "a close", "another correlation id"],
)
def test_listener_with_other_protocol_raises_target_start_error(answer: bytes) -> None:
    with listener(answer) as address:
        assert "does not answer as Kafka does" in failure(address)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x46", "this is a TLS listener"),
        (b"\x15\x03\x01\x00\x02\x02\x28", "this is a TLS listener"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "this is an HTTP server"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "this is an SSH server"),
    ],
)
def test_tls_http_and_ssh_listeners_are_recognized(answer: bytes, said: str) -> None:
    with listener(answer) as address:
        assert said in failure(address)


def test_unresolvable_host_raises_target_start_error() -> None:
    assert "cannot be resolved" in failure(Address("no-such-host.invalid", 9092))


def test_one_unreachable_address_raises_target_start_error(tmp_path: Path) -> None:
    with kinds.stand_in(tmp_path) as theirs:
        with socket.create_server(("127.0.0.1", 0)) as server:
            missing = Address(*server.getsockname())
        with pytest.raises(TargetStartError, match=str(missing)):
            ExternalBroker([*theirs.addresses, missing]).start()


def test_probe_of_external_broker_returns_api_versions(tmp_path: Path) -> None:
    with kinds.stand_in(tmp_path) as theirs, ExternalBroker(theirs.addresses) as target:
        info = probe(target)
    assert info.api_versions == {3: (0, 13), 18: (0, 4)}
    assert info.log_path is None
    assert info.capabilities == {"create_topics"}

"""``kafka-conformance proxy`` from the outside: proxies before an external cluster."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from harness.base.address import Address
from harness.capture.capture_file import CaptureFile
from harness.cli import main
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest
from harness.targets.ports import free_ports
from labs.captures.recorded import follow, messages
from tests.proxies.program import COMMAND, LIMIT_S, Program, program, refused
from tests.proxies.recorder import recorder
from tests.reference_broker import test_clients as clients
from tests.reference_broker.running import create_topic, running_broker

pytestmark = pytest.mark.rotates(8)

SLOW = """
[[rule]]
id = "busy"
on = "response"
api = "Metadata"
first = 1
rewrite = {throttle_time_ms = 777}
"""


@pytest.fixture(scope="module")
def broker() -> Iterator[Address]:
    with running_broker() as address:
        yield Address(*address)


def metadata(address: Address) -> Any:
    with Connection(address) as connection:
        return connection.ask(MetadataRequest(topics=[]), 9)


def ask(base: str, method: str, path: str, body: object = None) -> httpx.Response:
    return httpx.request(method, base + path, json=body, timeout=LIMIT_S, verify=False)


def await_close(connection: socket.socket) -> None:
    """Wait until the peer has closed, by FIN or RST. Raises TimeoutError."""
    connection.settimeout(LIMIT_S)
    try:
        while connection.recv(65_536):
            pass
    except ConnectionError:
        pass


def is_refused(address: Address) -> bool:
    try:
        socket.create_connection(address, 10).close()
    except ConnectionRefusedError:
        return True
    return False


def test_clients_reach_cluster_through_proxies_only() -> None:
    """The broker advertises an address that no option names; a proxy stands before it, too."""
    (port,) = free_ports(1)
    with recorder(("127.0.0.1", port)) as told:
        advertised = Address(*told.address)
        settings = {"advertised.listeners": f"PLAINTEXT://localhost:{advertised.port}"}
        with running_broker(settings, port), program("--upstream", f"127.0.0.1:{port}") as running:
            first = running.proxy_of(("127.0.0.1", port))
            create_topic(first, "through")
            clients.confluent_produce(first, "through", "none")
            assert len(clients.confluent_consume(first, "through")) == clients.RECORDS
            second = running.proxy_of(advertised)
            (shown,) = metadata(first).brokers
            assert (shown.host, shown.port) == second
            assert running.signalled(signal.SIGTERM) == 0
            assert sum(len(up) for up, _ in told.seen.values()) > 1000
    assert re.search(
        rf"{advertised} \(1\): \d+ connections, \d+ requests", "\n".join(running.lines)
    )


def test_rule_and_toxic_fire_and_sigterm_stops_program_cleanly(
    broker: Address, tmp_path: Path
) -> None:
    rules, journal, capture = (tmp_path / name for name in ("r.toml", "j.jsonl", "c.pcap"))
    rules.write_text(SLOW)
    with program(
        "--upstream", f"1={broker}", "--rules", rules, "--journal", journal, "--capture", capture,
        "--control", "127.0.0.1:0", "--seed", 7,
    ) as running:  # fmt: skip
        address, base = running.proxy_of(broker), running.control()
        assert [metadata(address).throttle_time_ms for _ in range(2)] == [777, 0]
        running.line(r'fired "busy" client->1 downstream .*api=Metadata.* for the first time')
        (counted,) = ask(base, "GET", "/kafka/rules").json()
        assert (counted["id"], counted["matched"], counted["fired"]) == ("busy", 2, 1)

        toxic = {"name": "late", "type": "latency", "attributes": {"latency": 300}}
        assert ask(base, "POST", "/proxies/1/toxics", toxic).status_code == 200
        running.line(r"toxic added client->1 downstream toxic=late")
        began = time.monotonic()
        metadata(address)
        assert time.monotonic() - began >= 0.3

        with socket.create_connection(address, 10) as idle:
            assert running.signalled(signal.SIGTERM) == 0
            await_close(idle)
        assert is_refused(address)
    assert 'rule "busy": 3 frames seen, 3 matched, 1 fired' in running.lines
    assert not any("Traceback" in line for line in running.lines)
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    first = ["started", "armed", "mapped", "fired", "toxic_added"]
    assert [event["what"] for event in events] == first + ["fired"] * len(events[len(first) :])
    assert events[0]["detail"]["seed"] == 7
    assert events[0]["detail"]["upstreams"] == {"1": str(broker)}
    found = messages(follow(tuple(CaptureFile(str(capture))))[0])
    assert len(found) == 2 * 2 * 3, "three requests and answers, on both sides"


def test_small_frame_flood_does_not_delay_stop(tmp_path: Path) -> None:
    """No frame goes on, so that nothing but the proxy itself stops its reads."""
    rules = tmp_path / "r.toml"
    rules.write_text('[[rule]]\non = "request"\napi = "Metadata"\ndrop = true\n')
    flood = frame(encode_request(MetadataRequest(), 1, 1)) * 10_000
    with socket.create_server(("127.0.0.1", 0)) as listener:
        upstream = Address(*listener.getsockname())
        with program("--upstream", upstream, "--rules", rules) as running:
            address = running.proxy_of(upstream)
            floods = [in_background(address, flood) for _ in range(4)]
            running.line("fired .* for the first time")
            assert running.signalled(signal.SIGTERM) == 0
            for each in floods:
                each.join(LIMIT_S)
                assert not each.is_alive()


def in_background(address: Address, data: bytes) -> Thread:
    """Send it again and again until the connection ends."""

    def send() -> None:
        with socket.create_connection(address, LIMIT_S) as connection:
            with contextlib.suppress(ConnectionError):
                while True:
                    connection.sendall(data)

    thread = Thread(target=send, daemon=True)
    thread.start()
    return thread


def test_program_killed_under_traffic_closes_client_connections(broker: Address) -> None:
    with program("--upstream", broker) as running:
        address = running.proxy_of(broker)
        answered, ended = Queue[None](), list[Exception]()

        def talk() -> None:
            try:
                with Connection(address, timeout_ms=LIMIT_S * 1000) as connection:
                    while True:
                        connection.ask(MetadataRequest(topics=[]), 9)
                        answered.put(None)
            except Exception as error:  # its kind is what is looked at
                ended.append(error)

        talking = [Thread(target=talk, daemon=True) for _ in range(4)]
        for each in talking:
            each.start()
        for _ in range(200):
            answered.get(timeout=LIMIT_S)
        with socket.create_connection(address, 10) as idle:
            idle.sendall(b"\0\0\0\x40half of a frame")
            running.process.kill()
            await_close(idle)
            for each in talking:
                each.join(LIMIT_S)
        assert [type(error) for error in ended] == [ConnectionClosed] * 4


def test_taken_port_is_reported_in_one_sentence(broker: Address) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = str(Address(*taken.getsockname()))
        said = {
            option: refused("--upstream", broker, option, at)
            for option in ("--listen", "--control")
        }
    for option, (code, text) in said.items():
        assert code == 1
        assert text.splitlines()[-1] == (
            f"Error: cannot listen at {at}: the port is taken; give another with {option}, or "
            "port 0 for a free one"
        )
        assert "Traceback" not in text


def test_rule_file_with_error_is_refused_entirely(broker: Address, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(SLOW + '\n[[rule]]\non = "request"\napi = "Prodce"\ndrop = true\n')
    code, text = refused("--upstream", broker, "--rules", file)
    assert code == 2
    first, second = text.splitlines()
    assert first == f'{file}:11: api: no API "Prodce" - did you mean "Produce"?'
    assert second == "Error: no rule is armed, and nothing was started"


@pytest.mark.parametrize("option", ["--journal", "--capture"])
def test_unwritable_output_file_is_reported(option: str, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "file"
    ended = CliRunner().invoke(main, ["proxy", "--upstream", "127.0.0.1:1", option, str(file)])
    assert ended.exit_code == 1
    assert f"Error: {file}: no {option[2:]} can be written: No such file or directory" in (
        ended.output
    )


def test_program_on_terminal_shows_live_table(broker: Address, tmp_path: Path) -> None:
    rules = tmp_path / "r.toml"
    rules.write_text(SLOW)
    with terminal("--upstream", f"1={broker}", "--rules", str(rules)) as screen:
        address = screen.wait_for(r"client->1.+?127\.0\.0\.1:(\d+)")
        metadata(Address("127.0.0.1", int(address[1])))
        screen.wait_for(r"busy\W+1\W+1\W+1\W+0")
        screen.process.send_signal(signal.SIGINT)
        assert screen.process.wait(LIMIT_S) == 0


class Screen:
    """A terminal with the program on it; all its output is read, or the program would wait."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self.process, self._terminal = process, terminal
        self._pieces = Queue[str]()
        self._shown = ""
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # this error is the end of a terminal without writers
            while piece := os.read(self._terminal, 65_536):
                self._pieces.put(piece.decode("utf-8", "replace"))

    def wait_for(self, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + LIMIT_S
        while not (found := re.search(pattern, self._shown)):
            try:
                self._shown += self._pieces.get(timeout=deadline - time.monotonic())
            except (Empty, ValueError):
                raise AssertionError(f"no {pattern!r} in {self._shown[-3000:]}") from None
        return found

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        os.close(self._terminal)


@contextlib.contextmanager
def terminal(*words: str) -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": "160", "LINES": "40", "TERM": "xterm"}
    process = subprocess.Popen([*COMMAND, *words], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    screen = Screen(ours, process)
    try:
        yield screen
    finally:
        screen.close()


def test_unreachable_upstream_is_reported_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        upstream = Address(*nobody.getsockname())
    with program("--upstream", upstream, "--no-rewrite") as running:
        address = running.proxy_of(upstream)
        for _ in range(3):
            with socket.create_connection(address, 10) as connection:
                await_close(connection)
        running.line(rf"^{upstream} could not be reached$")
        assert running.signalled(signal.SIGINT) == 0
    assert sum("could not be reached" in line for line in running.lines) == 1
    assert _summary(running) == f"{upstream}: 3 connections, 0 B up, 0 B down"


def _summary(running: Program) -> str:
    return running.lines[-1]


def test_program_with_unread_stdout_keeps_running(broker: Address) -> None:
    """The program prints more than a pipe holds; traffic, API and stop go on."""
    listen, control = (Address("127.0.0.1", port) for port in free_ports(2))
    rules = "".join(f'[[rule]]\nid = "{n:0>50}"\non = "request"\ndrop = true\nnth = 9999\n'
                    for n in range(100))  # fmt: skip
    words = ["--upstream", broker, "--listen", listen, "--control", control]
    with subprocess.Popen([*COMMAND, *map(str, words)], stdout=subprocess.PIPE) as process:
        try:
            deadline = time.monotonic() + LIMIT_S
            while is_refused(control) and time.monotonic() < deadline:
                assert process.poll() is None
            base = f"http://{control}/kafka/rules"
            for _ in range(10):
                answer = httpx.post(base, content=rules, timeout=LIMIT_S, verify=False)
                assert len(answer.json()) == 100
            assert metadata(listen).throttle_time_ms == 0
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT_S) == 0
        finally:
            process.kill()


def test_program_with_closed_stdout_keeps_running(broker: Address) -> None:
    with subprocess.Popen(
        [*COMMAND, "--upstream", str(broker)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            found = re.match(r"\S+:(\d+) stands for", process.stdout.readline().decode())
            assert found
            process.stdout.close()
            assert metadata(Address("127.0.0.1", int(found[1]))).throttle_time_ms == 0
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT_S) == 0
            assert process.stderr.read() == b""
        finally:
            process.kill()

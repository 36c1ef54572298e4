"""Sessions of toxiproxy's own clients, which do not know this project."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labs.hang_limit import HANGS_AFTER_S
from tests.proxies.control.clients import toxiproxy_cli, toxiproxy_python
from tests.proxies.control.running import Control, connect, echo, is_up, round_trip

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def control() -> Iterator[Control]:
    with Control() as running:
        yield running


@pytest.fixture
def upstream() -> Iterator[str]:
    with echo() as (host, port):
        yield f"{host}:{port}"


@pytest.fixture(scope="module")
def program() -> Path:
    return toxiproxy_cli()


def took_ms(address: str) -> float:
    began = time.monotonic()
    assert round_trip(address) == b"there and back"
    return (time.monotonic() - began) * 1000


@pytest.mark.deep
class TestToxiproxyCli:
    @pytest.fixture
    def run(self, control: Control, program: Path) -> Run:
        def run(*words: str) -> subprocess.CompletedProcess[str]:
            command = [str(program), "--host", f"http://{control.address}", *words]
            return subprocess.run(
                command, capture_output=True, text=True, timeout=HANGS_AFTER_S, check=False, env={}
            )

        return run

    @pytest.fixture
    def listen(self, control: Control, run: Run, upstream: str) -> str:
        made = run("create", "-l", "127.0.0.1:0", "-u", upstream, "kafka")
        assert (made.returncode, made.stdout) == (0, "Created new proxy kafka\n")
        address: str = control.http.get("/proxies/kafka").json()["listen"]
        return address

    def test_cli_creates_lists_toggles_and_deletes_proxy(
        self, run: Run, listen: str, upstream: str
    ) -> None:
        listed = run("list").stdout.split()
        assert [word for word in listed if word in ("kafka", listen, upstream, "enabled")] == [
            "kafka",
            listen,
            upstream,
            "enabled",
        ]
        assert took_ms(listen) >= 0
        assert "now disabled" in run("toggle", "kafka").stdout
        assert not is_up(listen)
        assert "now enabled" in run("toggle", "kafka").stdout
        assert took_ms(listen) >= 0
        assert run("delete", "kafka").stdout == "Deleted proxy kafka\n"
        assert not is_up(listen)
        assert "kafka" not in run("list").stdout

    def test_cli_adds_inspects_updates_and_removes_toxic(
        self, run: Run, listen: str, control: Control
    ) -> None:
        added = run("toxic", "add", "-t", "latency", "-a", "latency=100", "kafka")
        assert added.stdout == (
            "Added downstream latency toxic 'latency_downstream' on proxy 'kafka'\n"
        )
        assert took_ms(listen) >= 100
        (line,) = run("inspect", "kafka").stdout.splitlines()
        assert line.split("\t")[:4] == [
            "latency_downstream",
            "type=latency",
            "stream=downstream",
            "toxicity=1.00",
        ]
        assert "latency=100" in line
        changed = run("toxic", "update", "-n", "latency_downstream", "-a", "latency=200", "kafka")
        assert changed.returncode == 0, changed.stdout + changed.stderr
        assert took_ms(listen) >= 200
        assert run("toxic", "remove", "-n", "latency_downstream", "kafka").returncode == 0
        assert control.http.get("/proxies/kafka/toxics").json() == []

    def test_cli_adds_toxic_type_that_toxiproxy_lacks(
        self, run: Run, listen: str, control: Control
    ) -> None:
        words = ["toxic", "add", "-t", "corrupt", "-u", "--tox", "0.5", "-n", "mine"]
        added = run(*words, "-a", "every=2", "-a", "xor=32", "kafka")
        assert added.returncode == 0, added.stdout + added.stderr
        (toxic,) = control.http.get("/proxies/kafka/toxics").json()
        assert (toxic["name"], toxic["stream"], toxic["toxicity"]) == ("mine", "upstream", 0.5)
        assert (toxic["attributes"]["every"], toxic["attributes"]["xor"]) == (2, 32)

    def test_cli_shows_error_text_of_control_api(self, run: Run, listen: str) -> None:
        wrong = run("toxic", "add", "-t", "latenc", "kafka")
        assert wrong.returncode == 1
        assert 'HTTP 400: invalid toxic type: "latenc" - did you mean "latency"?' in wrong.stderr
        unknown = run("inspect", "kafak")
        assert 'HTTP 404: proxy not found: "kafak" - did you mean "kafka"?' in unknown.stderr
        twice = run("create", "-l", "127.0.0.1:0", "-u", "a:1", "kafka")
        assert "HTTP 409: proxy already exists" in twice.stderr


class TestPythonClient:
    @pytest.fixture
    def server(self, control: Control, monkeypatch: pytest.MonkeyPatch) -> Any:
        toxiproxy = toxiproxy_python(monkeypatch)
        server = toxiproxy.Toxiproxy()
        server.update_api_consumer("127.0.0.1", int(control.address.split(":")[1]))
        return server

    def test_python_client_manages_proxies(self, server: Any, upstream: str) -> None:
        assert server.running()
        assert b'"version": "2.' in server.version()
        proxy = server.create(upstream=upstream, name="kafka")
        assert (proxy.name, proxy.upstream, proxy.enabled) == ("kafka", upstream, True)
        assert list(server.proxies()) == ["kafka"]
        assert took_ms(proxy.listen) >= 0
        with proxy.down():
            assert not is_up(proxy.listen)
        assert is_up(proxy.listen)
        assert server.get_proxy("kafka").listen == proxy.listen
        server.destroy_all()
        assert server.proxies() == {}
        assert not is_up(proxy.listen)

    def test_python_client_populates_proxies(self, server: Any, upstream: str) -> None:
        wanted = [
            {"name": name, "upstream": upstream, "listen": "127.0.0.1:0"} for name in ("a", "b")
        ]
        assert [proxy.name for proxy in server.populate(wanted)] == ["a", "b"]
        assert sorted(server.proxies()) == ["a", "b"]

    def test_python_client_adds_and_removes_toxic(self, server: Any, upstream: str) -> None:
        proxy = server.create(upstream=upstream, name="kafka")
        proxy.add_toxic(type="latency", attributes={"latency": 100})
        assert took_ms(proxy.listen) >= 100
        toxic = proxy.get_toxic("latency_downstream")
        assert (toxic.type, toxic.toxicity, toxic.attributes["latency"]) == ("latency", 1, 100)
        proxy.destroy_toxic("latency_downstream")
        assert proxy.toxics() == {}

    def test_reset_removes_timeout_toxic_and_releases_bytes(
        self, server: Any, upstream: str
    ) -> None:
        proxy = server.create(upstream=upstream, name="kafka")
        with connect(proxy.listen, timeout_s=0.2) as connection:
            proxy.add_toxic(type="timeout", stream="upstream", attributes={"timeout": 0})
            connection.sendall(b"x")
            with pytest.raises(TimeoutError):
                connection.recv(1)
            assert server.reset()
            connection.settimeout(HANGS_AFTER_S)
            assert connection.recv(1) == b"x"

    def test_python_client_raises_specific_exception_per_refusal(
        self, server: Any, upstream: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        exceptions = toxiproxy_python(monkeypatch).exceptions
        proxy = server.create(upstream=upstream, name="kafka")
        with pytest.raises(exceptions.InvalidToxic):
            proxy.add_toxic(type="latenc")
        proxy.add_toxic(type="latency")
        with pytest.raises(exceptions.ProxyExists):  # its word for every 409
            proxy.add_toxic(type="latency")
        with pytest.raises(exceptions.NotFound):
            proxy.destroy_toxic("x")

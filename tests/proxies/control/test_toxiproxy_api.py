"""Toxiproxy's API as its clients expect it: fields, words and status codes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from labs.hang_limit import HANGS_AFTER_S
from tests.proxies.control.running import Control, connect, echo, is_up, round_trip

LATENCY = {"type": "latency", "attributes": {"latency": 50}}


@pytest.fixture
def control() -> Iterator[Control]:
    with Control() as running:
        yield running


@pytest.fixture
def upstream() -> Iterator[str]:
    with echo() as (host, port):
        yield f"{host}:{port}"


@pytest.fixture
def listen(control: Control, upstream: str) -> str:
    """The listen address of the proxy "one"."""
    response = control.http.post("/proxies", json={"name": "one", "upstream": upstream})
    assert response.status_code == 201
    address: str = response.json()["listen"]
    return address


def test_version_path_returns_toxiproxy_2_version(control: Control) -> None:
    response = control.http.get("/version")
    assert response.json()["version"].startswith("2.")


def test_request_from_browser_is_refused(control: Control) -> None:
    response = control.http.get("/proxies", headers={"User-Agent": "Mozilla/5.0 (Linux)"})
    assert (response.status_code, response.json()["error"]) == (403, "User agent not allowed")


def test_unknown_path_and_wrong_method_are_named_in_error(control: Control) -> None:
    unknown = control.http.get("/proxys")
    assert (unknown.status_code, unknown.json()) == (
        404,
        {"error": "no such path: /proxys", "status": 404},
    )
    wrong = control.http.get("/populate")
    assert (wrong.status_code, wrong.json()["error"]) == (
        405,
        "method not allowed: GET /populate; there is POST",
    )


class TestProxies:
    def test_proxy_is_created_shown_listed_and_removed(
        self, control: Control, upstream: str, listen: str
    ) -> None:
        expected = {
            "name": "one",
            "listen": listen,
            "upstream": upstream,
            "enabled": True,
            "toxics": [],
        }
        assert control.http.get("/proxies/one").json() == expected
        assert control.http.get("/proxies").json() == {"one": expected}
        assert round_trip(listen) == b"there and back"
        response = control.http.delete("/proxies/one")
        assert (response.status_code, response.content) == (204, b"")
        assert not is_up(listen)
        assert control.http.get("/proxies").json() == {}

    def test_proxy_is_created_with_valid_toxics_or_not_at_all(
        self, control: Control, upstream: str
    ) -> None:
        fields = {"name": "one", "upstream": upstream, "toxics": [LATENCY]}
        made = control.http.post("/proxies", json=fields).json()
        assert [toxic["name"] for toxic in made["toxics"]] == ["latency_downstream"]
        wrong = fields | {"name": "two", "toxics": [LATENCY, {"type": "latenc"}]}
        response = control.http.post("/proxies", json=wrong)
        assert (response.status_code, "two" in control.proxies) == (400, False)

    def test_reenabled_proxy_listens_on_same_address(self, control: Control, listen: str) -> None:
        for method in ("POST", "PATCH"):
            down = control.http.request(method, "/proxies/one", json={"enabled": False})
            assert (down.status_code, down.json()["enabled"]) == (200, False)
            assert not is_up(listen)
            up = control.http.request(method, "/proxies/one", json={"enabled": True})
            assert (up.json()["enabled"], up.json()["listen"]) == (True, listen)
            assert round_trip(listen)

    def test_proxy_created_disabled_can_be_enabled(self, control: Control, upstream: str) -> None:
        fields = {"name": "one", "upstream": upstream, "enabled": False}
        assert control.http.post("/proxies", json=fields).json()["enabled"] is False
        up = control.http.post("/proxies/one", json={"enabled": True}).json()
        assert round_trip(up["listen"])

    def test_upstream_change_closes_connections_and_keeps_toxics_and_port(
        self, control: Control, listen: str
    ) -> None:
        control.http.post("/proxies/one/toxics", json=LATENCY)
        with echo() as (host, port), connect(listen) as connection:
            connection.sendall(b"x")
            assert connection.recv(1) == b"x"
            changed = control.http.post("/proxies/one", json={"upstream": f"{host}:{port}"}).json()
            assert is_closed(connection)
            assert (changed["upstream"], changed["listen"]) == (f"{host}:{port}", listen)
            assert len(changed["toxics"]) == 1
            assert round_trip(listen)

    def test_proxy_update_to_taken_port_changes_nothing(
        self, control: Control, listen: str
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            response = control.http.post("/proxies/one", json={"listen": address})
        assert response.status_code == 500
        assert response.json()["error"].startswith(f"cannot listen: {address}: ")
        assert control.http.get("/proxies/one").json()["listen"] == listen
        assert round_trip(listen)

    @pytest.mark.parametrize(
        ("fields", "status", "error"),
        [
            ({"upstream": "a:1"}, 400, "missing required field: name"),
            ({"name": "two"}, 400, "missing required field: upstream"),
            ({"name": "one", "upstream": "a:1"}, 409, "proxy already exists"),
            ({"name": "two", "upstream": "a"}, 400, "bad request body: upstream must be HOST:PORT"),
            ({"name": "two", "upstream": "a:0"}, 400, "bad request body: upstream has a port from"),
            ({"name": "two", "upstream": "a:1", "listen": ":x"}, 400, "bad request body: listen"),
            ({"name": "two", "upstream": "a:1", "enabled": 1}, 400, "bad request body: enabled"),
            ({"name": 2, "upstream": "a:1"}, 400, "bad request body: name must be a string"),
            ({"name": "two", "upstraem": "a:1"}, 400, "bad request body: a proxy has no field"),
            ([], 400, "bad request body: a proxy must be an object"),
            ("{", 400, "bad request body: a proxy must be"),
        ],
    )
    def test_wrong_definition_is_refused_with_toxiproxy_error(
        self, control: Control, listen: str, fields: Any, status: int, error: str
    ) -> None:
        response = control.http.post("/proxies", json=fields)
        assert response.json()["status"] == response.status_code == status
        assert response.json()["error"].startswith(error)
        assert list(control.proxies) == ["one"]

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
    def test_invalid_json_is_refused(self, control: Control, content: bytes) -> None:
        response = control.http.post("/proxies", content=content)
        assert (response.status_code, response.json()["error"][:16]) == (400, "bad request body")

    def test_oversize_body_is_refused(self, control: Control) -> None:
        response = control.http.post("/proxies", content=b" " * (1 << 21))
        assert (response.status_code, "more than" in response.json()["error"]) == (400, True)

    @pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
    def test_unknown_name_is_not_found(self, control: Control, listen: str, method: str) -> None:
        response = control.http.request(method, "/proxies/xyz")
        assert (response.status_code, response.json()["error"]) == (404, "proxy not found")
        near = control.http.request(method, "/proxies/onee")
        assert near.json()["error"] == 'proxy not found: "onee" - did you mean "one"?'


class TestPopulate:
    def test_repeated_populate_leaves_existing_proxies_unchanged(
        self, control: Control, upstream: str
    ) -> None:
        fields = [{"name": name, "upstream": upstream} for name in ("b", "a")]
        response = control.http.post("/populate", json=fields)
        first = response.json()["proxies"]
        assert (response.status_code, [proxy["name"] for proxy in first]) == (201, ["b", "a"])
        control.http.post("/proxies/a/toxics", json=LATENCY)
        again = [
            field | {"listen": proxy["listen"]} for field, proxy in zip(fields, first, strict=True)
        ]
        second = control.http.post("/populate", json=again).json()["proxies"]
        assert [proxy["listen"] for proxy in second] == [proxy["listen"] for proxy in first]
        assert [len(proxy["toxics"]) for proxy in second] == [0, 1]

    def test_populate_treats_host_name_as_its_resolved_address(
        self, control: Control, upstream: str
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        fields = [{"name": "a", "upstream": upstream, "listen": f"localhost:{port}"}]
        control.http.post("/populate", json=fields)
        before = control.proxies["a"]
        control.http.post("/populate", json=fields)
        assert control.proxies["a"] is before

    def test_populate_replaces_changed_proxy_and_removes_its_toxics(
        self, control: Control, upstream: str, listen: str
    ) -> None:
        control.http.post("/proxies/one/toxics", json=LATENCY)
        with echo() as (host, port):
            fields = [{"name": "one", "upstream": f"{host}:{port}", "listen": listen}]
            (proxy,) = control.http.post("/populate", json=fields).json()["proxies"]
            assert (proxy["upstream"], proxy["toxics"]) == (f"{host}:{port}", [])
            assert round_trip(listen)

    def test_populate_with_taken_port_changes_no_proxy(
        self, control: Control, upstream: str, listen: str
    ) -> None:
        control.http.post("/proxies/one/toxics", json=LATENCY)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            fields = [
                {"name": "new", "upstream": upstream},
                {"name": "one", "upstream": "127.0.0.1:9", "listen": listen},
                {
                    "name": "bad",
                    "upstream": upstream,
                    "listen": f"127.0.0.1:{taken.getsockname()[1]}",
                },
            ]
            response = control.http.post("/populate", json=fields)
        assert (response.status_code, response.json()["proxies"]) == (500, [])
        left = control.http.get("/proxies").json()
        assert (list(left), left["one"]["upstream"]) == (["one"], upstream)
        assert len(left["one"]["toxics"]) == 1
        assert round_trip(listen)

    @pytest.mark.parametrize(
        ("second", "error"),
        [
            ({"upstream": "a:1"}, "missing required field: name at proxy 2"),
            ({"name": "b"}, "missing required field: upstream at proxy 2"),
            ({"name": "b", "upstream": "a"}, "bad request body: upstream at proxy 2 must be"),
            ({"name": "a", "upstream": "a:1"}, 'bad request body: there are two proxies "a"'),
            ({"name": "b", "upstream": "a:1", "toxics": [{"type": "x"}]}, "invalid toxic type"),
        ],
    )
    def test_populate_with_wrong_proxy_creates_none(
        self, control: Control, second: dict[str, Any], error: str
    ) -> None:
        fields = [{"name": "a", "upstream": "127.0.0.1:9"}, second]
        response = control.http.post("/populate", json=fields)
        assert (response.status_code, response.json()["proxies"]) == (400, [])
        assert response.json()["error"].startswith(error)
        assert control.http.get("/proxies").json() == {}

    def test_populate_refuses_body_that_is_no_list(self, control: Control) -> None:
        response = control.http.post("/populate", json={"name": "a"})
        assert (response.status_code, "list of proxies" in response.text) == (400, True)


class TestToxics:
    def test_toxic_is_added_shown_changed_and_removed(self, control: Control, listen: str) -> None:
        added = control.http.post("/proxies/one/toxics", json=LATENCY)
        expected = {
            "attributes": {"latency": 50, "jitter": 0},
            "name": "latency_downstream",
            "type": "latency",
            "stream": "downstream",
            "toxicity": 1.0,
        }
        path = "/proxies/one/toxics/latency_downstream"
        assert (added.status_code, added.json()) == (200, expected)
        assert control.http.get(path).json() == expected
        assert control.http.get("/proxies/one/toxics").json() == [expected]
        for method, latency in (("POST", 60), ("PATCH", 70)):
            changed = control.http.request(method, path, json={"attributes": {"latency": latency}})
            assert changed.json()["attributes"]["latency"] == latency
        spared = control.http.patch(path, json={"toxicity": 0.25}).json()
        assert (spared["toxicity"], spared["attributes"]["latency"]) == (0.25, 70)
        assert control.http.delete(path).status_code == 204
        assert control.http.get("/proxies/one/toxics").json() == []

    def test_toxic_applies_to_open_connections_until_reset(
        self, control: Control, listen: str
    ) -> None:
        with connect(listen) as connection:
            connection.sendall(b"1")
            assert connection.recv(1) == b"1"
            control.http.post("/proxies/one/toxics", json={"type": "timeout", "stream": "upstream"})
            connection.sendall(b"2")
            connection.settimeout(0.2)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            control.http.post("/reset")
            connection.settimeout(HANGS_AFTER_S)
            assert connection.recv(1) == b"2"

    def test_toxic_timeout_starts_when_added_to_open_connection(
        self, control: Control, listen: str
    ) -> None:
        with connect(listen) as connection:
            connection.sendall(b"1")
            assert connection.recv(1) == b"1"
            opened = time.monotonic()
            while time.monotonic() - opened < 0.15:  # older than the timeout
                control.http.get("/version")
            added = time.monotonic()
            fields = {"type": "reset_peer", "attributes": {"timeout": 100}}
            control.http.post("/proxies/one/toxics", json=fields)
            with pytest.raises(ConnectionResetError):
                connection.recv(1)
            assert time.monotonic() - added >= 0.1

    def test_latency_toxic_delays_round_trip(self, control: Control, listen: str) -> None:
        control.http.post("/proxies/one/toxics", json=LATENCY)
        began = time.monotonic()
        assert round_trip(listen)
        assert time.monotonic() - began >= 0.05

    @pytest.mark.parametrize(
        ("fields", "status", "error"),
        [
            ({"type": "latenc"}, 400, 'invalid toxic type: "latenc" - did you mean "latency"?'),
            (
                {"type": "latency", "stream": "up"},
                400,
                "stream was invalid, can be either upstream or downstream",
            ),
            ({"type": "noop", "name": "there"}, 409, "toxic already exists"),
            ({"type": "noop", "toxicity": 2}, 400, "bad request body: toxicity"),
            ({"type": "latency", "attributes": {"latency": "x"}}, 400, "bad request body: latency"),
            ([], 400, "bad request body: a toxic must be an object"),
        ],
    )
    def test_wrong_definition_is_refused_with_toxiproxy_error(
        self, control: Control, listen: str, fields: Any, status: int, error: str
    ) -> None:
        control.http.post("/proxies/one/toxics", json={"type": "noop", "name": "there"})
        response = control.http.post("/proxies/one/toxics", json=fields)
        assert response.json()["status"] == response.status_code == status
        assert response.json()["error"].startswith(error)
        assert len(control.http.get("/proxies/one/toxics").json()) == 1

    @pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
    def test_unknown_name_is_not_found(self, control: Control, listen: str, method: str) -> None:
        response = control.http.request(method, "/proxies/one/toxics/x")
        assert (response.status_code, response.json()["error"]) == (404, 'toxic not found: "x"')
        nowhere = control.http.request(method, "/proxies/xyz/toxics/x")
        assert (nowhere.status_code, nowhere.json()["error"]) == (404, "proxy not found")


def test_reset_enables_all_and_removes_all_toxics(control: Control, listen: str) -> None:
    control.http.post("/proxies/one/toxics", json=LATENCY)
    control.http.post("/proxies/one", json={"enabled": False})
    response = control.http.post("/reset")
    assert (response.status_code, response.content) == (204, b"")
    proxy = control.http.get("/proxies/one").json()
    assert (proxy["enabled"], proxy["toxics"]) == (True, [])
    assert is_up(listen)


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True

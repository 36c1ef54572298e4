"""Who may use the API, and what it has beside toxiproxy's."""

from __future__ import annotations

from typing import Any

import pytest

from harness.proxies.control.event_log import EventLog
from harness.proxies.control.proxies import Proxies
from harness.proxies.control.proxy_settings import ProxySettings
from harness.proxies.control.server import ControlServer
from harness.proxies.event import Event
from tests.proxies.control.running import Control, connect, echo, is_up, plain

ONE = {"name": "one", "upstream": "127.0.0.1:9"}


def no_proxies() -> Proxies:
    return Proxies(plain)


class TestWhoMayUseIt:
    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "example.org"])
    def test_another_address_needs_a_token(self, host: str) -> None:
        with pytest.raises(ValueError, match="could be used from other machines"):
            ControlServer(no_proxies(), listen=(host, 0))
        ControlServer(no_proxies(), listen=(host, 0), token="secret")

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
    def test_this_machine_needs_none(self, host: str) -> None:
        ControlServer(no_proxies(), listen=(host, 0))

    @pytest.mark.parametrize("token", ["", "a\nb", "ü"])
    def test_a_token_that_no_header_can_carry_is_refused(self, token: str) -> None:
        with pytest.raises(ValueError, match="printable ASCII"):
            ControlServer(no_proxies(), token=token)

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": "Bearer"},
            {"Authorization": "secret"},
            {"Authorization": "Basic secret"},
        ],
    )
    @pytest.mark.parametrize("path", ["/version", "/proxies", "/kafka/links", "/nowhere"])
    def test_every_path_wants_it(self, path: str, headers: dict[str, str]) -> None:
        with Control(token="secret") as control:
            refused = control.http.get(path, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["WWW-Authenticate"] == "Bearer"
            assert "secret" not in refused.text
            let_in = control.http.get(path, headers={"Authorization": "Bearer secret"})
            assert let_in.status_code == (404 if path == "/nowhere" else 200)


class TestLinks:
    def test_they_are_listed_with_their_counters(self) -> None:
        with Control() as control:
            listen = control.http.post("/proxies", json=ONE).json()["listen"]
            control.http.post("/proxies/one/toxics", json={"type": "noop"})
            (link,) = control.http.get("/kafka/links").json()
            assert link.pop("counters")["accepted"] == 0
            assert link == {
                "name": "one",
                "link": "client->broker",
                "listen": listen,
                "upstream": "127.0.0.1:9",
                "enabled": True,
                "toxics": {"noop_downstream": {"streams": 0, "fired": 0}},
            }

    @pytest.mark.parametrize("content", [None, {"direction": "upstream"}])
    def test_they_are_cut_and_healed(self, content: Any) -> None:
        with Control() as control, echo() as (host, port):
            fields = {"name": "one", "upstream": f"{host}:{port}"}
            listen = control.http.post("/proxies", json=fields).json()["listen"]
            with connect(listen, timeout_s=0.2) as connection:
                assert control.http.post("/kafka/links/one/cut", json=content).status_code == 200
                connection.sendall(b"x")
                with pytest.raises(TimeoutError):
                    connection.recv(1)
                assert control.http.post("/kafka/links/one/heal").status_code == 200
                connection.settimeout(10)
                assert connection.recv(1) == b"x"

    def test_their_connections_are_reset(self) -> None:
        with Control() as control, echo() as (host, port):
            fields = {"name": "one", "upstream": f"{host}:{port}"}
            listen = control.http.post("/proxies", json=fields).json()["listen"]
            with connect(listen) as connection:
                connection.sendall(b"x")
                assert connection.recv(1) == b"x"
                assert control.http.post("/kafka/links/one/reset").status_code == 200
                with pytest.raises(ConnectionResetError):
                    connection.recv(1)

    @pytest.mark.parametrize(
        ("path", "content", "status", "error"),
        [
            ("/kafka/links/two/cut", None, 404, "proxy not found"),
            ("/kafka/links/one/cutt", None, 404, 'did you mean "cut"'),
            ("/kafka/links/one/cut", {"direction": "up"}, 400, "upstream or downstream"),
        ],
    )
    def test_a_wrong_one_is_refused(self, path: str, content: Any, status: int, error: str) -> None:
        with Control() as control:
            control.http.post("/proxies", json=ONE)
            response = control.http.post(path, json=content)
            assert (response.status_code, error in response.json()["error"]) == (status, True)


class WrittenDown:
    """Rules that say what is asked of them."""

    def __init__(self) -> None:
        self.armed = ""

    def to_json(self) -> Any:
        return [{"rule": self.armed}] if self.armed else []

    def arm(self, toml: str) -> None:
        if "bad" in toml:
            raise ValueError("line 3: no such key")
        self.armed = toml

    def disarm(self) -> None:
        self.armed = ""

    def release(self, rule: str) -> None:
        if rule != self.armed:
            raise KeyError(rule)
        self.armed += ", released"


class TestRules:
    def test_they_are_armed_shown_released_and_disarmed(self) -> None:
        with Control(rules=WrittenDown()) as control:
            assert control.http.get("/kafka/rules").json() == []
            armed = control.http.post("/kafka/rules", content=b"drop")
            assert (armed.status_code, armed.json()) == (200, [{"rule": "drop"}])
            assert control.http.post("/kafka/rules/drop/release").status_code == 204
            assert control.http.get("/kafka/rules").json() == [{"rule": "drop, released"}]
            assert control.http.post("/kafka/rules/other/release").status_code == 404
            assert control.http.delete("/kafka/rules").status_code == 204
            assert control.http.get("/kafka/rules").json() == []

    def test_rules_with_an_error_are_refused_with_what_is_wrong(self) -> None:
        with Control(rules=WrittenDown()) as control:
            response = control.http.post("/kafka/rules", content=b"bad")
            assert response.json() == {"error": "rules refused: line 3: no such key", "status": 400}
            assert control.http.post("/kafka/rules", content=b"\xff").status_code == 400

    def test_where_there_are_none_there_is_no_path(self) -> None:
        with Control() as control:
            assert control.http.get("/kafka/rules").status_code == 404


class TestJournal:
    def test_it_goes_on_from_where_it_was_read(self) -> None:
        log = EventLog()
        with Control(log=log) as control:
            control.call(log, Event(1.0, "cut", link="client->1"))
            first = control.http.get("/kafka/journal").json()
            assert first == {
                "events": [{"at_ms": 1.0, "what": "cut", "link": "client->1"}],
                "next": 1,
                "lost": 0,
            }
            control.call(log, Event(2.0, "healed"))
            second = control.http.get("/kafka/journal", params={"after": first["next"]}).json()
            assert [event["what"] for event in second["events"]] == ["healed"]
            assert control.http.get("/kafka/journal?after=-1").status_code == 400

    def test_it_keeps_the_newest_and_says_what_is_lost(self) -> None:
        log = EventLog(limit=3)
        for number in range(5):
            log(Event(float(number), "fired"))
        read = log.to_json(1)
        assert [event["at_ms"] for event in read["events"]] == [2.0, 3.0, 4.0]
        assert (read["next"], read["lost"]) == (5, 1)
        assert log.to_json(5)["events"] == log.to_json(99)["events"] == []


def test_one_that_was_made_elsewhere_is_shown_and_stopped() -> None:
    with Control() as control:
        proxy = plain(ProxySettings("two", ("127.0.0.1", 9)), None)
        control.wait_for(proxy.start())
        control.call(control.proxies.adopt, proxy)
        assert list(control.http.get("/proxies").json()) == ["two"]
        assert control.http.delete("/proxies/two").status_code == 204
        assert not is_up(str(proxy.listen))

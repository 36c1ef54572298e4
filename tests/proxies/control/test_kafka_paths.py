"""Access to the API, and its paths beside toxiproxy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.base.address import Address
from harness.proxies.control.event_log import EventLog
from harness.proxies.control.proxies import Proxies
from harness.proxies.control.proxy_settings import ProxySettings
from harness.proxies.control.server import ControlServer
from harness.proxies.event import Event
from harness.proxies.rules.rule_set import RuleSet
from labs.hang_limit import HANGS_AFTER_S
from tests.proxies.control.running import Control, connect, echo, is_up, plain

ONE = {"name": "one", "upstream": "127.0.0.1:9"}


def no_proxies() -> Proxies:
    return Proxies(plain)


class TestAccess:
    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "example.org"])
    def test_listening_on_non_loopback_address_requires_token(self, host: str) -> None:
        with pytest.raises(ValueError, match="could be used from other machines"):
            ControlServer(no_proxies(), listen=Address(host, 0))
        ControlServer(no_proxies(), listen=Address(host, 0), token="secret")

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
    def test_listening_on_loopback_requires_no_token(self, host: str) -> None:
        ControlServer(no_proxies(), listen=Address(host, 0))

    @pytest.mark.parametrize("token", ["", "a\nb", "ü"])
    def test_token_invalid_in_http_header_is_refused(self, token: str) -> None:
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
    def test_every_path_requires_bearer_token(self, path: str, headers: dict[str, str]) -> None:
        with Control(token="secret") as control:
            refused = control.http.get(path, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["WWW-Authenticate"] == "Bearer"
            assert "secret" not in refused.text
            let_in = control.http.get(path, headers={"Authorization": "Bearer secret"})
            assert let_in.status_code == (404 if path == "/nowhere" else 200)


class TestLinks:
    def test_link_list_contains_counters_and_toxics(self) -> None:
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
                "cut": [],
                "toxics": {"noop_downstream": {"streams": 0, "fired": 0}},
            }

    @pytest.mark.parametrize("content", [None, {"direction": "upstream"}])
    def test_link_is_cut_and_healed_over_http(self, content: Any) -> None:
        with Control() as control, echo() as (host, port):
            fields = {"name": "one", "upstream": f"{host}:{port}"}
            listen = control.http.post("/proxies", json=fields).json()["listen"]
            with connect(listen, timeout_s=0.2) as connection:
                answer = control.http.post("/kafka/links/one/cut", json=content)
                assert answer.status_code == 200
                assert answer.json()["cut"] == (
                    ["upstream"] if content else ["downstream", "upstream"]
                )
                connection.sendall(b"x")
                with pytest.raises(TimeoutError):
                    connection.recv(1)
                assert control.http.post("/kafka/links/one/heal").json()["cut"] == []
                connection.settimeout(HANGS_AFTER_S)
                assert connection.recv(1) == b"x"

    def test_link_reset_resets_open_connections(self) -> None:
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
    def test_wrong_link_request_is_refused(
        self, path: str, content: Any, status: int, error: str
    ) -> None:
        with Control() as control:
            control.http.post("/proxies", json=ONE)
            response = control.http.post(path, json=content)
            assert (response.status_code, error in response.json()["error"]) == (status, True)


DROP = """
[[rule]]
id = "{id}"
on = "request"
api = "Produce"
drop = true
"""


class TestRules:
    @pytest.fixture
    def control(self) -> Iterator[Control]:
        with Control(rules=RuleSet(now_ms=lambda: 0.0)) as running:
            yield running

    def test_rules_are_replaced_added_released_and_disarmed(self, control: Control) -> None:
        for method, rule, expected in [
            ("POST", "a", ["a"]),
            ("PATCH", "b", ["a", "b"]),
            ("POST", "c", ["c"]),
            ("PATCH", "d", ["c", "d"]),
        ]:
            armed = control.http.request(method, "/kafka/rules", content=DROP.format(id=rule))
            assert armed.status_code == 200, armed.text
            assert self.armed(control) == expected
        shown = control.http.get("/kafka/rules").json()
        assert [(rule["id"], rule["rule"]["drop"]) for rule in shown] == [("c", True), ("d", True)]
        released = control.http.post("/kafka/rules/c/release")
        assert (released.status_code, released.json()) == (200, {"frames": 0})
        assert control.http.delete("/kafka/rules/c").status_code == 204
        assert self.armed(control) == ["d"]
        assert control.http.delete("/kafka/rules").status_code == 204
        assert self.armed(control) == []

    def armed(self, control: Control) -> list[str]:
        return [rule.id for rule in control.settings["rules"].rules]

    @pytest.mark.parametrize("method", ["POST", "PATCH"])
    def test_rule_set_with_error_is_refused_entirely(self, control: Control, method: str) -> None:
        control.http.post("/kafka/rules", content=DROP.format(id="there"))
        text = DROP.format(id="new") + DROP.format(id="bad").replace("Produce", "Prodce")
        response = control.http.request(method, "/kafka/rules", content=text)
        assert response.status_code == 400
        assert response.json()["error"].startswith("rules refused: ")
        assert 'did you mean "Produce"' in response.json()["error"]
        assert self.armed(control) == ["there"]

    def test_seed_is_accepted_with_whole_rule_set_only(self, control: Control) -> None:
        rules = control.settings["rules"]
        text = "seed = 7\n" + DROP.format(id="a")
        refused = control.http.patch("/kafka/rules", content=text)
        assert (refused.status_code, rules.seed) == (400, 0)
        twice = control.http.post("/kafka/rules", content=text + DROP.format(id="a"))
        assert (twice.status_code, rules.seed) == (400, 0)
        assert control.http.post("/kafka/rules", content=text).status_code == 200
        assert rules.seed == 7

    def test_rules_in_invalid_utf8_are_refused(self, control: Control) -> None:
        response = control.http.post("/kafka/rules", content=b"\xff")
        assert (response.status_code, response.json()["error"][:16]) == (400, "bad request body")

    def test_an_unknown_rule_is_not_found(self, control: Control) -> None:
        for method, path in [("POST", "/kafka/rules/x/release"), ("DELETE", "/kafka/rules/x")]:
            response = control.http.request(method, path)
            assert (response.status_code, response.json()["error"]) == (
                404,
                'rule not found: no armed rule "x"',
            )

    def test_rules_path_without_rule_set_is_not_found(self) -> None:
        with Control() as control:
            assert control.http.get("/kafka/rules").status_code == 404


class TestJournal:
    def test_journal_returns_events_after_given_position(self) -> None:
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

    def test_full_journal_keeps_newest_events_and_counts_lost(self) -> None:
        log = EventLog(limit=3)
        for number in range(5):
            log(Event(float(number), "fired"))
        read = log.to_json(1)
        assert [event["at_ms"] for event in read["events"]] == [2.0, 3.0, 4.0]
        assert (read["next"], read["lost"]) == (5, 1)
        assert log.to_json(5)["events"] == log.to_json(99)["events"] == []


def test_adopted_proxy_is_listed_and_stopped_over_http() -> None:
    with Control() as control:
        proxy = plain(ProxySettings("two", Address("127.0.0.1", 9)), None)
        control.wait_for(proxy.start())
        control.call(control.proxies.adopt, proxy)
        assert list(control.http.get("/proxies").json()) == ["two"]
        assert control.http.delete("/proxies/two").status_code == 204
        assert not is_up(str(proxy.listen))

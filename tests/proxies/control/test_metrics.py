"""Metrics for Prometheus, by a reader that accepts only its text format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest
from harness.proxies.control.exposition import COUNTER, GAUGE, Family, as_text
from harness.proxies.proxy import Proxy
from harness.proxies.rules import RuleSet, requests
from tests.proxies.control.running import Control, echo, round_trip

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (?P<value>-?[0-9.e+]+)")
HEADER = re.compile(rf"# (HELP|TYPE) ({NAME}) (.+)")
ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
Labels = frozenset[tuple[str, str]]


@dataclass
class Read:
    """Metrics by name: their kind, and their numbers by labels."""

    kinds: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, dict[Labels, float]] = field(default_factory=dict)

    def of(self, name: str, **labels: str) -> float:
        """The sum of those that have these labels."""
        found = [value for key, value in self.numbers[name].items() if labels.items() <= set(key)]
        assert found, f"{name} has no {labels}: {self.numbers[name]}"
        return sum(found)


def read(text: str) -> Read:
    """Parse the text. Raises AssertionError if a strict reader would refuse it."""
    assert text.endswith("\n")
    found, now, helped = Read(), "", set()
    for line in text.splitlines():
        header, sample = HEADER.fullmatch(line), SAMPLE.fullmatch(line)
        if header and header[1] == "HELP":
            assert header[2] not in helped, f"told twice: {line}"
            helped.add(now := header[2])
        elif header:
            assert header[2] == now
            assert now not in found.kinds
            assert header[3] in ("counter", "gauge")
            assert (header[3] == "counter") == now.endswith("_total")
            found.kinds[now], found.numbers[now] = header[3], {}
        else:
            assert sample, f"no sample: {line}"
            assert sample[1] == now, f"{line} stands under {now}"
            labels = frozenset((name, unescaped(value)) for name, value
                               in re.findall(LABEL, sample[2] or ""))  # fmt: skip
            assert labels not in found.numbers[now], f"told twice: {line}"
            found.numbers[now][labels] = float(sample["value"])
    return found


def unescaped(value: str) -> str:
    return re.sub(r'\\[\\"n]', lambda found: ESCAPED[found[0]], value)


def test_byte_metrics_have_toxiproxy_names_and_labels() -> None:
    with Control() as control, echo() as (host, port):
        upstream = f"{host}:{port}"
        made = control.http.post("/proxies", json={"name": "one", "upstream": upstream}).json()
        control.http.post("/proxies", json={"name": "idle", "upstream": upstream})
        round_trip(made["listen"], b"x" * 1000)
        answer = control.http.get("/metrics")
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        found = read(answer.text)
        for name in ("received", "sent"):
            for direction in ("upstream", "downstream"):
                labels = {"direction": direction, "listener": made["listen"], "upstream": upstream}
                metric = f"toxiproxy_proxy_{name}_bytes_total"
                assert found.of(metric, proxy="one", **labels) == 1000
                assert found.of(metric, proxy="idle", direction=direction) == 0
        assert found.of("kafka_proxy_accepted_total", proxy="one") == 1
        assert found.of("kafka_proxy_enabled", proxy="idle") == 1


def test_bytes_dropped_by_toxic_count_as_received_not_sent() -> None:
    with Control() as control, echo() as (host, port):
        fields = {"name": "one", "upstream": f"{host}:{port}"}
        listen = control.http.post("/proxies", json=fields).json()["listen"]
        limit = {"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 70}}
        control.http.post("/proxies/one/toxics", json=limit)
        assert round_trip(listen, b"x" * 100) == b"x" * 70
        found = read(control.http.get("/metrics").text)
        assert found.of("toxiproxy_proxy_sent_bytes_total", direction="upstream") == 100
        assert found.of("toxiproxy_proxy_received_bytes_total", direction="downstream") == 100
        assert found.of("toxiproxy_proxy_sent_bytes_total", direction="downstream") == 70
        toxic = {"proxy": "one", "toxic": "limit_data_downstream", "type": "limit_data"}
        assert found.of("kafka_proxy_toxic_fired_total", **toxic) == 1


def test_metrics_count_frames_and_rule_matches() -> None:
    request = frame(encode_request(MetadataRequest(), 12, 1))
    rule = requests("Metadata").nth(2).named('a "rule" \\ of\ntwo lines').drop()
    rules = RuleSet(rule, now_ms=lambda: 0.0)
    with Control(rules=rules) as control, echo() as (host, port):
        proxy = Proxy("one", (host, port), interceptor=rules)
        control.wait_for(proxy.start())
        control.call(control.proxies.adopt, proxy)
        round_trip(str(proxy.listen), request)
        control.call(proxy.cut)
        found = read(control.http.get("/metrics").text)
    labels = {"proxy": "one", "link": "client->broker", "direction": "upstream"}
    kind = {"api_key": "3", "api": "Metadata", "version": "12"}
    assert found.of("kafka_proxy_frames_total", **labels, **kind) == 1
    assert found.of("kafka_proxy_frame_bytes_total", **labels, **kind) == len(request)
    assert found.of("kafka_proxy_cut", **labels) == 1
    for name, count in {"seen": 1, "matched": 1, "fired": 0, "outside": 0}.items():
        assert found.of(f"kafka_proxy_rule_{name}_total", rule=rule.id) == count
    assert found.kinds["kafka_proxy_rule_fired_total"] == "counter"


def test_metrics_path_requires_token_and_refuses_browser() -> None:
    with Control(token="secret") as control:
        assert control.http.get("/metrics").status_code == 401
        allowed = {"Authorization": "Bearer secret"}
        assert control.http.get("/metrics", headers=allowed).status_code == 200
        browser = {**allowed, "User-Agent": "Mozilla/5.0"}
        assert control.http.get("/metrics", headers=browser).status_code == 403


def test_metric_families_without_samples_are_omitted() -> None:
    empty, full = Family("none_total", COUNTER, "None."), Family("some", GAUGE, "A\nline \\.")
    full.add({}, 1)
    full.add({}, 2.5)
    assert as_text([empty, full]) == "# HELP some A\\nline \\\\.\n# TYPE some gauge\nsome 3.5\n"


@pytest.mark.parametrize("text", ["x 1\n", "# HELP x y\n# TYPE x gauge\nx 1\nx 1\n", "x"])
def test_metrics_reader_rejects_invalid_text(text: str) -> None:
    with pytest.raises(AssertionError):
        read(text)

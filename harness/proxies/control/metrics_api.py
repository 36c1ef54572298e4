"""The counters of all proxies and rules for Prometheus: toxiproxy's two metrics, and ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aiohttp import web

from harness.codec.apis import APIS
from harness.proxies.control.exposition import CONTENT_TYPE, COUNTER, GAUGE, Family, as_text
from harness.proxies.control.proxies import Controlled, Proxies
from harness.proxies.counters import Traffic
from harness.proxies.direction import Direction
from harness.proxies.rules.rule_set import RuleSet

Labels = dict[str, object]
_OF_PROXY = {
    "accepted": "Connections that were accepted.",
    "not_connected": "Connections with an unreachable upstream.",
    "mismatched": "Responses with another correlation id than that of the request in turn.",
    "unasked": "Responses to no request.",
    "forgotten": "Requests that were too many to remember.",
    "errors": "Errors that a rule or the rewriting of addresses raised.",
}
_OF_TRAFFIC = {
    "unparsed_bytes": "Bytes behind a length that cannot be.",
    "lost_framing": "Lengths that cannot be.",
    "too_large": "Frames that passed unread because they were too large.",
    "cut_short": "Streams that ended within a frame.",
}
_OF_RULE = {
    "seen": "Frames that were shown to the rule.",
    "outside": "Frames that would match at another time.",
    "matched": "Frames that matched.",
    "fired": "Frames to which something was done.",
    "expired": "Frames that were held until their time was over.",
}


class MetricsApi:
    """The handler of one path."""

    def __init__(self, proxies: Proxies, rules: RuleSet | None) -> None:
        self._proxies, self._rules = proxies, rules

    def routes(self) -> Iterable[web.RouteDef]:
        return [web.get("/metrics", self.metrics)]

    async def metrics(self, request: web.Request) -> web.Response:  # noqa: ARG002
        proxies = list(self._proxies.values())
        families = [*_bytes(proxies), *_links(proxies), *_frames(proxies), *_toxics(proxies)]
        if self._rules is not None:
            families += _rules(self._rules)
        return web.Response(body=as_text(families).encode(), headers={"Content-Type": CONTENT_TYPE})


def _bytes(proxies: Iterable[Controlled]) -> Iterator[Family]:
    """Return the two metrics of toxiproxy."""
    came = Family("toxiproxy_proxy_received_bytes_total", COUNTER, "Bytes that came in.")
    sent = Family("toxiproxy_proxy_sent_bytes_total", COUNTER, "Bytes that were sent on.")
    for proxy in proxies:
        for direction, traffic in _traffic(proxy):
            labels: Labels = {
                "direction": direction,
                "listener": str(proxy.listen),
                "proxy": proxy.name,
                "upstream": str(proxy.upstream),
            }
            came.add(labels, traffic.bytes)
            sent.add(labels, traffic.sent_bytes)
    yield from (came, sent)


def _links(proxies: Iterable[Controlled]) -> Iterator[Family]:
    enabled = Family("kafka_proxy_enabled", GAUGE, "Whether it listens.")
    opened = Family("kafka_proxy_connections", GAUGE, "Connections that are open.")
    cut = Family("kafka_proxy_cut", GAUGE, "Whether nothing passes this way.")
    counts = {
        name: Family(f"kafka_proxy_{name}_total", COUNTER, text)
        for name, text in (_OF_PROXY | _OF_TRAFFIC).items()
    }
    for proxy in proxies:
        labels = _labels(proxy)
        enabled.add(labels, int(proxy.enabled))
        opened.add(labels, proxy.counters.open)
        for name in _OF_PROXY:
            counts[name].add(labels, getattr(proxy.counters, name))
        for direction, traffic in _traffic(proxy):
            directed = labels | {"direction": direction}
            cut.add(directed, int(direction in proxy.cut_directions))
            for name in _OF_TRAFFIC:
                counts[name].add(directed, getattr(traffic, name))
    yield from (enabled, opened, cut, *counts.values())


def _frames(proxies: Iterable[Controlled]) -> Iterator[Family]:
    frames = Family("kafka_proxy_frames_total", COUNTER, "Frames by API and version.")
    size = Family("kafka_proxy_frame_bytes_total", COUNTER, "Their bytes, lengths included.")
    for proxy in proxies:
        for direction, traffic in _traffic(proxy):
            for (key, version), tally in sorted(traffic.by_api.items()):
                labels = _labels(proxy) | {"direction": direction, "api_key": key}
                labels |= {"api": APIS[key].name if key in APIS else "", "version": version}
                frames.add(labels, tally.frames)
                size.add(labels, tally.frame_bytes)
    yield from (frames, size)


def _toxics(proxies: Iterable[Controlled]) -> Iterator[Family]:
    streams = Family("kafka_proxy_toxic_streams_total", COUNTER, "Streams that a toxic struck.")
    fired = Family("kafka_proxy_toxic_fired_total", COUNTER, "Pieces that a toxic changed.")
    for proxy in proxies:
        for named in proxy.toxics:
            labels = _labels(proxy) | {
                "direction": named.direction, "toxic": named.name, "type": named.toxic.type,
            }  # fmt: skip
            streams.add(labels, named.counts.streams)
            fired.add(labels, named.counts.fired)
    yield from (streams, fired)


def _rules(rules: RuleSet) -> Iterator[Family]:
    """Return the metrics of the armed rules."""
    counts = {
        name: Family(f"kafka_proxy_rule_{name}_total", COUNTER, text)
        for name, text in _OF_RULE.items()
    }
    skipped = Family("kafka_proxy_rule_skipped_total", COUNTER, "Frames that were left, by reason.")
    for rule in rules.rules:
        found = rules.counts(rule.id)
        for name, family in counts.items():
            family.add({"rule": rule.id}, getattr(found, name))
        for reason, count in found.skipped.items():
            skipped.add({"rule": rule.id, "reason": reason}, count)
    yield from (*counts.values(), skipped)


def _labels(proxy: Controlled) -> Labels:
    return {"proxy": proxy.name, "link": f"{proxy.source}->{proxy.destination}"}


def _traffic(proxy: Controlled) -> Iterator[tuple[Direction, Traffic]]:
    for direction in Direction:
        yield direction, proxy.counters.of(direction)

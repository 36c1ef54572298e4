"""The API beyond toxiproxy's: links and their cuts, the journal of faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiohttp import web

from harness.base.suggestion import did_you_mean
from harness.proxies.control.errors import BadBody, NoSuchPath
from harness.proxies.control.event_log import EventLog
from harness.proxies.control.proxies import Controlled, Proxies
from harness.proxies.control.requests import answer, body
from harness.proxies.direction import Direction


def link_json(proxy: Controlled) -> dict[str, Any]:
    counts = {named.name: named.counts.to_json() for named in proxy.toxics}
    return {
        "name": proxy.name,
        "link": f"{proxy.source}->{proxy.destination}",
        "listen": str(proxy.listen),
        "upstream": str(proxy.upstream),
        "enabled": proxy.enabled,
        "cut": sorted(proxy.cut_directions),
        "counters": proxy.counters.to_json(),
        "toxics": counts,
    }


class KafkaApi:
    """Handlers of requests; refusals are raised."""

    def __init__(self, proxies: Proxies, log: EventLog) -> None:
        self._proxies, self._log = proxies, log

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.get("/kafka/links", self.list_links),
            web.post("/kafka/links/{proxy}/{action}", self.act_on_link),
            web.get("/kafka/journal", self.journal),
        ]

    async def list_links(self, request: web.Request) -> web.Response:  # noqa: ARG002
        return answer([link_json(proxy) for proxy in self._proxies.values()])

    async def act_on_link(self, request: web.Request) -> web.Response:
        """``cut`` (with ``{"direction": ...}`` only one), ``heal`` or ``reset``: RST to all."""
        proxy, name = self._proxies[request.match_info["proxy"]], request.match_info["action"]
        act = ACTIONS.get(name)
        if act is None:
            raise NoSuchPath(f"{request.path}{did_you_mean(name, ACTIONS)}")
        act(proxy, await body(request) if request.can_read_body else {})
        return answer(link_json(proxy))

    async def journal(self, request: web.Request) -> web.Response:
        """Return the events since ``?after=N``; ``next`` in the answer is the next N."""
        after = request.query.get("after", "0")
        if not after.isdecimal():
            raise BadBody(f"after must be a number from an earlier answer, not {after!r}")
        return answer(self._log.to_json(int(after)))


def _cut(proxy: Controlled, fields: Any) -> None:
    proxy.cut(_direction(fields))


def _heal(proxy: Controlled, fields: Any) -> None:  # noqa: ARG001
    proxy.heal()


def _reset(proxy: Controlled, fields: Any) -> None:  # noqa: ARG001
    proxy.reset_connections()


ACTIONS: dict[str, Callable[[Controlled, Any], None]] = {
    "cut": _cut,
    "heal": _heal,
    "reset": _reset,
}


def _direction(fields: Any) -> Direction | None:
    value = fields.get("direction") if isinstance(fields, Mapping) else fields
    if value is None:
        return None
    try:
        return Direction(value)
    except ValueError:
        raise BadBody(f"direction must be upstream or downstream, not {value!r}") from None

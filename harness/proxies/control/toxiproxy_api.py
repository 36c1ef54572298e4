"""Toxiproxy's API, version 2: paths, fields, status codes as its clients expect them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aiohttp import web

from harness.proxies.control.errors import BadBody, as_refused
from harness.proxies.control.proxies import Controlled, Proxies
from harness.proxies.control.proxy_settings import ProxySettings
from harness.proxies.control.requests import answer, body, done


def proxy_json(proxy: Controlled) -> dict[str, Any]:
    return {
        "name": proxy.name,
        "listen": str(proxy.listen),
        "upstream": str(proxy.upstream),
        "enabled": proxy.enabled,
        "toxics": proxy.toxics.to_json(),
    }


class ToxiproxyApi:
    """Handlers of requests; refusals are raised."""

    def __init__(self, proxies: Proxies, version: str) -> None:
        self._proxies, self._version = proxies, version

    def routes(self) -> Iterable[web.RouteDef]:
        proxy, toxic = "/proxies/{proxy}", "/proxies/{proxy}/toxics/{toxic}"
        return [
            web.get("/version", self.version),
            web.post("/reset", self.reset),
            web.post("/populate", self.populate),
            web.get("/proxies", self.list_proxies),
            web.post("/proxies", self.create_proxy),
            web.get(proxy, self.show_proxy),
            web.post(proxy, self.update_proxy),
            web.patch(proxy, self.update_proxy),
            web.delete(proxy, self.delete_proxy),
            web.get(f"{proxy}/toxics", self.list_toxics),
            web.post(f"{proxy}/toxics", self.create_toxic),
            web.get(toxic, self.show_toxic),
            web.post(toxic, self.update_toxic),
            web.patch(toxic, self.update_toxic),
            web.delete(toxic, self.delete_toxic),
        ]

    async def version(self, request: web.Request) -> web.Response:  # noqa: ARG002
        return answer({"version": self._version})

    async def reset(self, request: web.Request) -> web.Response:  # noqa: ARG002
        await self._proxies.reset()
        return done()

    async def populate(self, request: web.Request) -> web.Response:
        try:
            proxies = await self._proxies.populate(_many(await body(request)))
        except Exception as error:
            refused = as_refused(error)
            if refused is None:
                raise
            return answer(refused.to_json() | {"proxies": []}, refused.status)
        return answer({"proxies": [proxy_json(proxy) for proxy in proxies]}, 201)

    async def list_proxies(self, request: web.Request) -> web.Response:  # noqa: ARG002
        return answer({name: proxy_json(proxy) for name, proxy in self._proxies.items()})

    async def create_proxy(self, request: web.Request) -> web.Response:
        proxy = await self._proxies.add(ProxySettings.from_json(await body(request)))
        return answer(proxy_json(proxy), 201)

    async def show_proxy(self, request: web.Request) -> web.Response:
        return answer(proxy_json(self._proxy(request)))

    async def update_proxy(self, request: web.Request) -> web.Response:
        self._proxy(request)  # the name is looked at first
        fields = await body(request)
        name = request.match_info["proxy"]
        await self._proxies.update(name, lambda settings: settings.updated(fields))
        return answer(proxy_json(self._proxy(request)))

    async def delete_proxy(self, request: web.Request) -> web.Response:
        await self._proxies.remove(request.match_info["proxy"])
        return done()

    async def list_toxics(self, request: web.Request) -> web.Response:
        return answer(self._proxy(request).toxics.to_json())

    async def create_toxic(self, request: web.Request) -> web.Response:
        self._proxy(request)
        fields = await body(request)
        return answer(self._proxy(request).toxics.add_json(fields).to_json())

    async def show_toxic(self, request: web.Request) -> web.Response:
        return answer(self._proxy(request).toxics.get(request.match_info["toxic"]).to_json())

    async def update_toxic(self, request: web.Request) -> web.Response:
        name = request.match_info["toxic"]
        self._proxy(request).toxics.get(name)
        fields = await body(request)
        return answer(self._proxy(request).toxics.update_json(name, fields).to_json())

    async def delete_toxic(self, request: web.Request) -> web.Response:
        self._proxy(request).toxics.remove(request.match_info["toxic"])
        return done()

    def _proxy(self, request: web.Request) -> Controlled:
        return self._proxies[request.match_info["proxy"]]


def _many(value: Any) -> list[ProxySettings]:
    if not isinstance(value, list):
        raise BadBody(f"there must be a list of proxies, not {value!r}")
    return [
        ProxySettings.from_json(fields, f" at proxy {number}")
        for number, fields in enumerate(value, 1)
    ]

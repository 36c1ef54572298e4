"""The proxies that the API knows, by name: made, changed and removed, each change whole or not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from harness.base.address import Address
from harness.base.suggestion import did_you_mean
from harness.proxies.control.errors import BadBody, CannotListen, NoSuchProxy, ProxyExists
from harness.proxies.control.proxy_settings import ProxySettings
from harness.proxies.direction import Direction
from harness.proxies.toxics.collection import ToxicCollection


class Controlled(Protocol):
    """The part of a proxy that the API uses, see :class:`harness.proxies.proxy.Proxy`."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def listen(self) -> Address: ...
    @property
    def upstream(self) -> Address: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def toxics(self) -> ToxicCollection: ...
    @property
    def counters(self) -> Any: ...
    @property
    def cut_directions(self) -> frozenset[Direction]: ...

    async def start(self) -> Any: ...
    async def stop(self) -> Any: ...
    async def enable(self) -> Any: ...
    async def disable(self) -> Any: ...
    def cut(self, direction: Direction | None = None) -> Any: ...
    def heal(self) -> Any: ...
    def reset_connections(self) -> Any: ...


Make = Callable[[ProxySettings, Controlled | None], Controlled]
"""Return a proxy with these settings that is not started. If an old proxy is given, the new one
replaces it and takes over what the old one has beside the settings (rules, a link's ends). The
caller adds the toxics.
"""


class Proxies(Mapping[str, Controlled]):
    """For one asyncio loop. Changes wait for each other: each sees the result of the one before."""

    def __init__(self, make: Make, gone: Callable[[Controlled], object] | None = None) -> None:
        """``gone`` is called with each proxy that is removed or replaced, once it is stopped."""
        self._make, self._gone = make, gone
        self._proxies: dict[str, Controlled] = {}
        self._asked: dict[str, Address] = {}  # where to listen, as it was written
        self._started: set[Controlled] = set()
        self._lock = asyncio.Lock()

    def __getitem__(self, name: str) -> Controlled:
        """Raises NoSuchProxy."""
        try:
            return self._proxies[name]
        except KeyError:
            near = did_you_mean(name, self._proxies)
            raise NoSuchProxy(f'"{name}"{near}' if near else "") from None

    def __contains__(self, name: object) -> bool:
        return name in self._proxies

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._proxies))

    def __len__(self) -> int:
        return len(self._proxies)

    def adopt(self, proxy: Controlled) -> None:
        """Add a proxy that was made and started elsewhere; raises ProxyExists."""
        if proxy.name in self._proxies:
            raise ProxyExists(f'"{proxy.name}"')
        self._proxies[proxy.name] = proxy
        self._started.add(proxy)

    async def add(self, settings: ProxySettings) -> Controlled:
        """Make a proxy and, if it is enabled, start it. Raises ProxyExists or CannotListen."""
        async with self._lock:
            if settings.name in self._proxies:
                raise ProxyExists
            return await self._put(settings)

    async def populate(self, all_settings: Sequence[ProxySettings]) -> list[Controlled]:
        """Make these, or replace those that differ in listen or upstream; all or none.

        One that does not differ stays as it is, its toxics too. Raises BadBody or CannotListen.
        """
        names = [settings.name for settings in all_settings]
        for name in names:
            if names.count(name) > 1:
                raise BadBody(f'there are two proxies "{name}"')
        async with self._lock:
            changed: list[tuple[str, Controlled | None, bool]] = []
            try:
                for settings in all_settings:
                    old = self._proxies.get(settings.name)
                    if old is None or await self._differs(old, settings):
                        was_enabled = old is not None and old.enabled
                        changed.append((settings.name, old, was_enabled))
                        await self._put(settings)
            except CannotListen:
                for name, old, was_enabled in reversed(changed):
                    await self._put_back(name, old, was_enabled)
                raise
            for _, old, _ in changed:
                await self._discard(old)
            return [self._proxies[name] for name in names]

    async def update(self, name: str, change: Callable[[ProxySettings], ProxySettings]) -> None:
        """Change a proxy: another address closes its connections, its toxics stay.

        Raises NoSuchProxy or CannotListen.
        """
        async with self._lock:
            old = self[name]
            settings = change(
                ProxySettings(old.name, old.upstream, listen=old.listen, enabled=old.enabled)
            )
            if not await self._differs(old, settings):
                await self._switch(old, settings.enabled)
                return
            was_enabled = old.enabled
            try:
                await self._put(settings, keep_toxics=True)
            except CannotListen:
                await self._put_back(name, old, was_enabled)
                raise
            await self._discard(old)

    async def remove(self, name: str) -> None:
        """Close a proxy and its connections; raises NoSuchProxy."""
        async with self._lock:
            proxy = self[name]
            del self._proxies[name]
            self._asked.pop(name, None)
            await self._discard(proxy)

    async def reset(self) -> None:
        """Enable all, remove all toxics; raises CannotListen."""
        async with self._lock:
            for proxy in list(self._proxies.values()):  # others may be adopted meanwhile
                await self._switch(proxy, to=True)
                proxy.toxics.clear()

    async def close(self) -> None:
        """Stop and forget all."""
        async with self._lock:
            proxies, self._proxies = list(self._proxies.values()), {}
            self._asked.clear()
            ended = await asyncio.gather(*map(self._discard, proxies), return_exceptions=True)
            for error in filter(None, ended):
                raise error

    async def _put(self, settings: ProxySettings, *, keep_toxics: bool = False) -> Controlled:
        """Make a proxy in the place of the one of this name, which is only disabled."""
        old = self._proxies.get(settings.name)
        new = self._make(settings, old)
        new.toxics.add_all(old.toxics if old and keep_toxics else settings.toxics)
        if old:
            await old.disable()
        if settings.enabled:
            await self._switch(new, to=True)
        self._proxies[settings.name] = new
        self._asked[settings.name] = settings.listen
        return new

    async def _put_back(self, name: str, old: Controlled | None, was_enabled: bool) -> None:
        new = self._proxies.pop(name, None)
        if new is not old:
            await self._discard(new)
        if old:
            self._proxies[name] = old
            self._asked[name] = old.listen
            await self._switch(old, was_enabled)

    async def _discard(self, proxy: Controlled | None) -> None:
        if proxy in self._started:
            self._started.remove(proxy)
            await proxy.stop()
            if self._gone:
                self._gone(proxy)

    async def _switch(self, proxy: Controlled, to: bool) -> None:
        if proxy.enabled == to:
            return
        if not to:
            await proxy.disable()
            return
        try:
            await (proxy.enable() if proxy in self._started else proxy.start())
        except OSError as error:
            raise CannotListen(f"{proxy.listen!s}: {error}") from None
        self._started.add(proxy)

    async def _differs(self, proxy: Controlled, settings: ProxySettings) -> bool:
        if tuple(proxy.upstream) != settings.upstream:
            return True
        listen = settings.listen
        if tuple(proxy.listen) == listen:
            return False
        if listen[1] != proxy.listen[1]:
            return True
        if self._asked.get(proxy.name) == listen:
            return False
        return not await _hosts(listen) & await _hosts(proxy.listen)


async def _hosts(address: Address) -> set[str]:
    """The IP addresses of its host; none when there are none."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(*address, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {str(each[4][0]) for each in found}

"""One proxy on loopback that runs a Python rule over every frame.

It is the short form for callers with one rule, such as a row of the defect table.
"""

from __future__ import annotations

from typing import Self

from harness.base.address import Address
from harness.proxies.connection import ProxiedConnection
from harness.proxies.frame_rule import FrameRuleInterceptor
from harness.proxies.proxy import Proxy
from harness.proxies.rule import FrameRule
from harness.proxies.running import RunningProxies


class Relay:
    """Listens on loopback and relays to ``upstream`` under ``rule``."""

    def __init__(self, upstream: tuple[str, int], rule: FrameRule | None = None) -> None:
        self.rule = rule or FrameRule()
        self.proxy = Proxy("relay", upstream, interceptor=FrameRuleInterceptor(self.rule))
        for number, toxic in enumerate(self.rule.toxics):
            self.proxy.toxics.add(toxic, name=f"{toxic.type}-{number}")

    @property
    def rule_errors(self) -> list[Exception]:
        """The last errors that the rule raised; a rule that raises changes nothing."""
        return list(self.proxy.errors)

    @property
    def connections(self) -> list[ProxiedConnection]:
        return self.proxy.connections

    async def start(self, port: int = 0) -> Address:
        """Start the proxy and return the address to connect to."""
        self.proxy.listen = Address(self.proxy.listen.host, port)
        await self.proxy.start()
        return self.proxy.listen

    async def stop(self) -> None:
        """Close the listener and every connection at once."""
        await self.proxy.stop()


class RunningRelay:
    """A relay on a thread and loop of its own, for callers that are not asynchronous."""

    def __init__(self, upstream: tuple[str, int], rule: FrameRule | None = None) -> None:
        self.relay = Relay(upstream, rule)
        self.address = Address("", 0)
        self.proxies = RunningProxies()

    def __enter__(self) -> Self:
        self.proxies.__enter__()
        try:
            self.proxies.proxies.append(self.relay.proxy)  # it stops with these
            self.address = self.proxies.wait_for(self.relay.start())
        except BaseException:
            self.proxies.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.proxies.stop()

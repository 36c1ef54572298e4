"""The HTTP server of the control API, on the loop of its proxies."""

from __future__ import annotations

from aiohttp import web

from harness.base.address import Address
from harness.proxies.control.event_log import EventLog
from harness.proxies.control.guard import require_safe
from harness.proxies.control.kafka_api import KafkaApi
from harness.proxies.control.metrics_api import MetricsApi
from harness.proxies.control.proxies import Proxies
from harness.proxies.control.requests import BODY_BYTES, refusing
from harness.proxies.control.rules_api import RulesApi
from harness.proxies.control.toxiproxy_api import ToxiproxyApi
from harness.proxies.rules.rule_set import RuleSet

DEFAULT_LISTEN = Address("127.0.0.1", 8474)  # toxiproxy's port
SPOKEN_VERSION = "2.12.0"  # of toxiproxy: this is its API
SHUTDOWN_S = 1


class ControlServer:
    """The server, from ``start`` to ``stop``; it does not stop the proxies."""

    def __init__(
        self,
        proxies: Proxies,
        *,
        listen: Address = DEFAULT_LISTEN,
        token: str | None = None,
        rules: RuleSet | None = None,
        log: EventLog | None = None,
        version: str = f"{SPOKEN_VERSION}+kafka-conformance",
    ) -> None:
        """``token``: required as ``Authorization: Bearer TOKEN`` on every path.

        Raises ValueError: another machine could use it, and there is no token. Without ``rules``
        there are no paths ``/kafka/rules``.
        """
        require_safe(listen[0], token)
        self.address = listen
        app = web.Application(middlewares=[refusing(token)], client_max_size=BODY_BYTES)
        app.add_routes(ToxiproxyApi(proxies, version).routes())
        app.add_routes(KafkaApi(proxies, log or EventLog()).routes())
        app.add_routes(MetricsApi(proxies, rules).routes())
        if rules is not None:
            app.add_routes(RulesApi(rules).routes())
        self._runner = web.AppRunner(
            app, handle_signals=False, access_log=None, shutdown_timeout=SHUTDOWN_S
        )

    async def start(self) -> Address:
        """Return the address, with the port that was chosen for 0; raises OSError."""
        await self._runner.setup()
        try:
            site = web.TCPSite(self._runner, *self.address)
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        host, port, *_ = self._runner.addresses[0]
        self.address = Address(host, port)
        return self.address

    async def stop(self) -> None:
        """Stop the server and close its connections."""
        await self._runner.cleanup()

"""Our own cluster in which every connection goes through a proxy that can be faulted alone.

Each broker knows its proxies: it connects to them instead of other brokers or the controller.
Clients know the proxies before the brokers. So no process needs names or addresses of its own, and
the cluster takes only ports of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.address import Address
from harness.proxies.event import Listener
from harness.proxies.links import Links
from harness.proxies.proxy import Proxy
from harness.proxies.tls_ends import TlsEnds
from harness.targets.kafka.link_plan import CLIENT, CONTROLLER, PlannedLink
from harness.targets.link_proxies import LinkProxies
from harness.targets.ports import free_ports
from harness.targets.reference import COMMAND, START_TIMEOUT_MS
from harness.targets.reference_cluster import CONTROLLER_ID, HOST, ReferenceCluster
from harness.targets.run_security import BROKER_CERTIFICATE, CLIENT_CERTIFICATE, WantedSecurity
from harness.targets.tls_at_proxies import ends_between

_ANY = Address(HOST, 0)


class LinkedReference(ReferenceCluster):
    """As its parent; ``addresses`` are those of the proxies, which is what Metadata shows too.

    ``links`` holds a link for every directed pair: ``client`` to broker, broker to another broker,
    broker to ``controller``, as :class:`harness.targets.linked.LinkedKafka` has them.
    """

    def __init__(
        self,
        brokers: int,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        like: str = "",
        command: Sequence[str] = COMMAND,
        start_timeout_ms: int = START_TIMEOUT_MS,
        security: WantedSecurity | None = None,
        tell: Listener | None = None,
    ) -> None:
        """The last parameter is called with every fault. Else as ReferenceCluster.

        With TLS, it ends at the links. Where listeners want certificates, clients are the user of
        the run, and brokers that of the brokers, whatever certificate they show.
        """
        super().__init__(
            brokers,
            log_dir=log_dir,
            settings=settings,
            like=like,
            command=command,
            start_timeout_ms=start_timeout_ms,
            security=security,
        )
        self._links = LinkProxies(self.spec, tell=tell, ends=self._ends)
        self._internal: dict[int, Address] = {}

    @property
    def links(self) -> Links[Proxy]:
        """All links of the running cluster. Raises TargetError: it does not run."""
        return self._links.opened

    def _choose_ports(self) -> dict[int, int]:
        """Listen at all links: what starts afterwards finds its way from the first moment on."""
        brokers = range(1, self.brokers + 1)
        controller, *ports = free_ports(1 + 2 * self.brokers)
        client = dict(zip(brokers, ports, strict=False))
        internal = ports[self.brokers :]
        self._internal = {
            node: Address(HOST, port) for node, port in zip(brokers, internal, strict=True)
        }
        self._links.open(self._planned(client, Address(HOST, controller)))
        return {CONTROLLER_ID: controller, **client}

    def _ends(self, link: PlannedLink) -> TlsEnds | None:
        security = self._security
        if security is None or not security.wanted.protocol.has_tls:
            return None
        shown = CLIENT_CERTIFICATE if link.source == CLIENT else BROKER_CERTIFICATE
        return ends_between(security.folder, shown)

    def _planned(self, client: Mapping[int, int], controller: Address) -> list[PlannedLink]:
        planned = []
        for node, port in client.items():
            planned.append(PlannedLink(CLIENT, str(node), _ANY, Address(HOST, port)))
            planned.append(PlannedLink(str(node), CONTROLLER, _ANY, controller))
            planned += [
                PlannedLink(str(node), str(other), _ANY, at)
                for other, at in self._internal.items()
                if other != node
            ]
        return planned

    def _told(self, node: int) -> Address:
        return Address(*self.links[CLIENT, node].proxy.listen)

    def _own_settings(self, node: int) -> dict[str, str]:
        if node == CONTROLLER_ID:
            return {}
        return {"advertised.listeners": f"PLAINTEXT://{self._told(node)}"}

    def _joining(self, node: int) -> list[str]:
        words = super()._joining(node)
        if self.brokers > 1:
            words += ["--internal-port", str(self._internal[node].port)]
        for (source, _), link in self.links.items():
            if source == str(node):
                words += ["--way", f"{link.proxy.upstream}={link.proxy.listen}"]
        return words

    def _end(self) -> None:
        try:
            super()._end()
        finally:
            self._links.close()

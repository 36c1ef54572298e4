"""A real Kafka cluster in which every connection goes through a proxy that can be faulted alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.address import Address
from harness.proxies.event import Listener
from harness.proxies.interceptor import Interceptor
from harness.proxies.links import Links
from harness.proxies.proxy import Proxy
from harness.proxies.tap import Tap
from harness.targets.kafka.jvm import HEAP, QUICK
from harness.targets.kafka.link_plan import LinkedPlan
from harness.targets.kafka.rolling_upgrade import RollingUpgrade
from harness.targets.kafka.target import KafkaTarget
from harness.targets.link_proxies import LinkProxies


class LinkedKafka(KafkaTarget):
    """As its parent; ``addresses`` are those of the proxies, which is what Metadata shows too.

    ``links`` holds a link for every directed pair: ``client`` to broker, broker to broker, broker
    to ``controller`` or ``zookeeper``. ``links[2, 1].cut()``: broker 2 reaches broker 1 no more.
    In :class:`harness.targets.kafka.link_plan.LinkedPlan` is how each release is led through them.

    Until something is cut nothing differs from a cluster without proxies but the time it takes.
    """

    def __init__(
        self,
        release: str,
        *,
        nodes: int = 3,
        mode: str | None = None,
        heap: str = HEAP,
        jvm: str = QUICK,
        settings: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        interceptor: Interceptor | None = None,
        tell: Listener | None = None,
        seed: int = 0,
        tap: Tap | None = None,
        upgrade: RollingUpgrade | None = None,
    ) -> None:
        """``interceptor`` to ``tap``: for every proxy. Else as KafkaTarget.

        Without ``interceptor`` each link has rules of its own, none at first: LinkRules.
        """
        super().__init__(
            release,
            nodes=nodes,
            mode=mode,
            heap=heap,
            jvm=jvm,
            settings=settings,
            log_dir=log_dir,
            upgrade=upgrade,
        )
        self._links = LinkProxies(self.spec, interceptor=interceptor, tell=tell, seed=seed, tap=tap)

    @property
    def links(self) -> Links[Proxy]:
        """All links of the running cluster. Raises TargetError: it does not run."""
        return self._links.opened

    def _planned(self, brokers: int, controllers: int) -> LinkedPlan:
        return LinkedPlan(
            self.release, self.mode, brokers, self.settings, controllers, self._upgrade
        )

    def _before_start(self, addresses: Sequence[Address]) -> None:
        """Listen at all links: what starts afterwards finds its way from the first moment on."""
        assert isinstance(self._plan, LinkedPlan)
        self._links.open(self._plan.links(addresses))

    def stop(self) -> None:
        self._links.heal()  # an end in good order needs everybody
        super().stop()

    def _end(self) -> None:
        try:
            super()._end()
        finally:
            self._links.close()

"""The one provider of brokers of a process: each test gets what its request names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.conformance.outcome import NotApplicable
from harness.power_loss.lossy_disk import DiskError, LossyDisk
from harness.runner.broker_request import BrokerRequest, Use
from harness.runner.brokers.broker_pool import BrokerPool
from harness.runner.brokers.cluster_pool import ClusterPool
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.brokers.power_loss_broker import PowerLossBroker
from harness.runner.case_session import CaseSession
from harness.targets.target import POWER_LOSS


@dataclass(slots=True)
class BrokerProvider:
    """Brokers for the tests of one process; those in a pool run on until :meth:`stop`."""

    _brokers: BrokerPool = field(default_factory=BrokerPool)
    _clusters: ClusterPool = field(default_factory=ClusterPool)

    @contextmanager
    def broker(self, case: CaseSession, request: BrokerRequest) -> Iterator[BrokerUnderTest]:
        """A running broker, for the time of the test.

        Raises MissingCapability, TargetError where the target cannot have such a one.
        """
        try:
            yield self._begun(case, request)
        finally:
            case.close()
            if request.is_pooled and not case.quiet:
                self._brokers.replace(request.use)

    def _begun(self, case: CaseSession, request: BrokerRequest) -> BrokerUnderTest:
        if request.is_pooled:
            return case.pooled_broker(self._brokers.acquire(request, case.broker.make_target))
        if request.use is Use.JOINABLE:
            return case.private_joinable(case.broker.make_target(), request.settings)
        if request.use is Use.OWN:
            return case.private_broker(case.broker.make_target(), request.settings)
        return case.shared_broker()

    @contextmanager
    def persistent_broker(
        self, case: CaseSession, request: BrokerRequest, *, older: bool = False
    ) -> Iterator[PersistentBroker]:
        """A broker with data that outlives its process; ``older``: it begins as an older release.

        Raises MissingCapability, TargetError.
        """
        try:
            settings = request.settings
            made = case.persistent_broker(case.broker.make_target(), settings, older=older)
            yield made
            made.door.leave()
        finally:
            case.close()

    @contextmanager
    def power_loss_broker(
        self, case: CaseSession, request: BrokerRequest
    ) -> Iterator[PowerLossBroker]:
        """The same on a disk of its own.

        Raises NotApplicable where the machine has no such disk.
        """
        with new_disk() as disk:
            try:
                target = case.broker.make_target()
                made = case.power_loss_broker(target, request.settings, disk)
                made.sync()  # what Kafka 3.9.2 formats is not flushed by itself
                yield made
                made.door.leave()
            finally:
                case.close()

    @contextmanager
    def cluster(self, case: CaseSession, request: BrokerRequest) -> Iterator[Cluster]:
        """The run's cluster or a private one, healed and cleaned after the test.

        Raises MissingCapability, TargetError.
        """
        made: Cluster | None = None
        is_private = request.use is Use.CLUSTER
        try:
            made = self._private_cluster(case, request) if is_private else case.shared_cluster()
            yield made
        finally:
            if made is not None and is_private:
                self._clusters.take_back(made)
            elif made is not None:
                with suppress(BrokerMisbehaved, ApiNotAdvertised):
                    made.delete_made()
            case.close()

    def _private_cluster(self, case: CaseSession, request: BrokerRequest) -> Cluster:
        pool, nodes = self._clusters, request.nodes or len(case.broker.nodes)
        running = pool.acquire(case.broker.make_target, request, nodes)
        made = case.pooled_cluster(running, links=request.links)
        made.disks = pool.disks
        pool.listener = case.notes.hear
        return made

    def stop(self) -> None:
        """End everything in the pools; twice is fine."""
        self._brokers.stop()
        self._clusters.stop()


@contextmanager
def new_disk() -> Iterator[LossyDisk]:
    """A mounted disk. Raises NotApplicable where none can be mounted."""
    try:
        made = LossyDisk()
    except DiskError as problem:
        raise NotApplicable(POWER_LOSS, str(problem)) from problem
    with made:
        yield made

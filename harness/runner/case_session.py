"""One conformance test in the process that runs it: its case, its broker, its evidence."""

from __future__ import annotations

import json
import re
import shlex
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.base.address import Address
from harness.base.bundle import is_bundled
from harness.base.own_names import case_prefix
from harness.base.pace import FACTORS
from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.client.placeholder_versions import placeholder_of
from harness.client.wire_coverage import WireCoverage
from harness.codec.apis import Api
from harness.conformance.catalogue import load_catalogue
from harness.conformance.checks import begin_case, broken_meanwhile, finish_case, with_evidence
from harness.conformance.dated import APACHE_KAFKA, by_date
from harness.conformance.headline import EXTERNAL
from harness.conformance.missing_rights import by_rights
from harness.conformance.outcome import Inconclusive, NotApplicable, NotSupported
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import Verdict
from harness.histories.history import ClientOperation
from harness.power_loss.power_loss_disk import PowerLossDisk
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.brokers.pooled_broker import UNHURRIED
from harness.runner.brokers.power_loss_broker import ONLY_NODE, PowerLossBroker
from harness.runner.brokers.shared_broker import SharedBroker
from harness.runner.cluster_notes import ClusterNotes
from harness.runner.cluster_watch import ClusterWatch, both
from harness.runner.faults import Faults
from harness.runner.granted import grants_of
from harness.runner.in_time import TooSlow
from harness.runner.refusals import Refusals
from harness.runner.run_session import NOT_ANSWERED, WorkerContext
from harness.targets.errors import MissingCapability
from harness.targets.first_broker import LEADER_AND_ISR
from harness.targets.target import JOIN_AS_BROKER, Target
from harness.targets.zookeeper_topics import ZookeeperTopics
from harness.virtual_broker.cluster import JoinedCluster

JUDGES_NO_BROKER = "it judges no broker, but what we do by document: --target by-document"
"""The reason of what a broker cannot be asked."""

_LOG_TAIL_BYTES = 8_000
_QUIET = frozenset({Verdict.PASSED, Verdict.NOT_SUPPORTED, Verdict.NOT_APPLICABLE})


@dataclass(slots=True)
class CaseSession:
    """A test from set-up to verdict."""

    context: WorkerContext
    node_id: str
    requirements: Sequence[str]
    api: Api | None
    api_version: int | None
    broker: SharedBroker
    wire: WireCoverage
    offline: bool = False  # asks no broker
    attempt: int = 1
    asked: int = 1  # how often so far: each time with names of its own
    slow: int = 0  # how often the machine was too slow: each time longer times follow
    died: bool = False  # the broker, under this test
    too_slow: bool = False  # the machine, for this test
    quiet: bool = False  # it has ended, and nothing is wrong
    brokers: list[BrokerUnderTest] = field(default_factory=list)
    private: Target | None = None
    pooled: Target | None = None
    faults: Faults | None = None
    notes: ClusterNotes = field(default_factory=ClusterNotes)
    watch: ClusterWatch = field(default_factory=ClusterWatch)
    refusals: Refusals | None = None
    """Of missing rights, on a cluster that others run: elsewhere they are failures."""
    _shared: BrokerUnderTest | None = None  # one client a test: a second would make the same names

    @property
    def case(self) -> str:
        """The node id without the folder that all suites share."""
        return self.node_id.removeprefix("suites/")

    def begin(self) -> None:
        """Open the case.

        Raises NotSupported, NotApplicable or Inconclusive when there is no point in running.
        """
        begin_case(
            self.case,
            self.requirements,
            api_key=self.api.key if self.api else None,
            api_version=self.api_version,
            attempt=self.attempt,
        )
        if self.context.info.spec.startswith(EXTERNAL):
            areas = {name.partition("-")[0] for name in self.requirements}
            self.refusals = Refusals(self.context.info.name_prefix, areas)
        if self.offline:
            if self.context.info.is_broker:
                raise NotApplicable("offline", JUDGES_NO_BROKER)
            return
        if self.api is not None:
            self._expect_served(self.api, self.api_version)
        if self.shared_broker().is_alive():
            return
        if not self.broker.can_be_replaced:
            raise Inconclusive(NOT_ANSWERED)
        self.broker.replace()
        self._shared = None
        if not self.shared_broker().is_alive():
            raise Inconclusive("a new broker did not answer before this test began")

    def _expect_served(self, api: Api, version: int | None) -> None:
        """Raise NotSupported for what the broker does not claim, or was not seen, to serve."""
        what = api.name if version is None else f"{api.name} v{version}"
        known = self.context.info.versions_source  # advertised, observed
        served = self.context.info.api_versions.get(api.key)
        if served is None:
            raise NotSupported(f"{what}: {known} is not at all")
        if version is None:
            return
        if not served[0] <= version <= served[1]:
            raise NotSupported(f"{what}: {known} is {served[0]} to {served[1]}")
        row = placeholder_of(self.shared_broker().api_versions, api.name)
        if row is not None and version in row.versions:
            raise NotSupported(
                f"{what}: advertised as a placeholder only, for old clients that look at the "
                f"range ({row.source})"
            )

    def shared_broker(self) -> BrokerUnderTest:
        """The run's broker, as this test sees it."""
        if self._shared is None:
            address, node = self.broker.client
            self._shared = self._client([address], self.broker.zookeeper, own=False, node=node)
        return self._shared

    def private_broker(self, target: Target, settings: Mapping[str, str]) -> BrokerUnderTest:
        """A broker of the test's own; raises MissingCapability where there can be none."""
        self.private = target.start_another(settings)
        return self._client(self.private.addresses, self.private.zookeeper)

    def persistent_broker(
        self, target: Target, settings: Mapping[str, str], *, older: bool = False
    ) -> PersistentBroker:
        """The same with data that outlives its process; raises MissingCapability.

        ``older``: it begins as an older release.
        """
        self.private = running = target.start_another(settings, kept=True, older=older)
        return PersistentBroker(running, self._client(running.addresses, running.zookeeper))

    def power_loss_broker(
        self, target: Target, settings: Mapping[str, str], disk: PowerLossDisk
    ) -> PowerLossBroker:
        """The same with its data on that disk, which the caller closes behind it."""
        folders = {ONLY_NODE: disk.path / "node"}
        self.private = running = target.start_another(settings, kept=True, node_folders=folders)
        return PowerLossBroker(running, self._client(running.addresses, running.zookeeper), disk)

    def private_joinable(self, target: Target, settings: Mapping[str, str]) -> BrokerUnderTest:
        """The same for one that virtual brokers join."""
        target.require(JOIN_AS_BROKER)
        return self.private_broker(target, {**UNHURRIED, **settings})

    def pooled_broker(self, running: Target) -> BrokerUnderTest:
        """A broker that runs on after the test, for tests that may harm it."""
        self.pooled = running
        return self._client(running.addresses, running.zookeeper)

    def shared_cluster(self) -> Cluster:
        """The run's cluster; tests must not act on its nodes."""
        nodes = self.broker.nodes
        return self._cluster(nodes, self.broker.addresses, self.broker.zookeeper, own=False)

    def pooled_cluster(self, running: Target, *, links: bool = False) -> Cluster:
        """A cluster that no other test uses meanwhile; the test may harm and heal its nodes.

        ``links``: the test can cut them too.
        """
        self.pooled = running
        made = self._cluster(running.nodes, running.addresses, running.zookeeper)
        made.control, made.notes = running, ClusterNotes()
        self.notes = made.notes
        if links:
            made.links = running.links
        return made

    def _cluster(
        self,
        nodes: Sequence[int],
        addresses: Sequence[tuple[str, int]],
        zookeeper: Address | None,
        *,
        own: bool = True,
    ) -> Cluster:
        at = dict(zip(nodes, addresses, strict=True))

        def connect(node: int, number: int) -> BrokerUnderTest:
            client = self._client([at[node]], zookeeper, own=own, number=number)
            client.observer = both(self.wire.see, self.watch.at(node, f"{number}"))
            return client

        registry = None if zookeeper is None else ZookeeperTopics(zookeeper)
        return Cluster(nodes, connect, registry=registry)

    def joined(self, broker: BrokerUnderTest) -> JoinedCluster:
        """The cluster of the test's own broker, for virtual brokers to join.

        Raises MissingCapability where there is no way in.
        """
        own = self.private or self.pooled
        if own is None or own.peer_endpoint is None:
            spec = self.context.info.spec if own is None else own.spec
            raise MissingCapability(JOIN_AS_BROKER, spec)
        return JoinedCluster(own.peer_endpoint, broker, own.nodes[0])

    def faults_before(self, broker: BrokerUnderTest) -> Faults:
        """Faults on the way to the broker of this test, drawn from the run's seed and the case."""
        self.faults = Faults(broker.address, seed=f"{self.context.seed}/{self.case}")
        return self.faults

    def fault_events(self) -> list[dict[str, Any]]:
        """The events of this case's faults, as lines of the run's fault journal."""
        return [{**self._about, **event} for event in self._journal()]

    def _journal(self) -> list[dict[str, Any]]:
        """By the fixture ``faults``, or by ``cluster``: a test has one of them."""
        return [*(self.faults.journal() if self.faults else ()), *self.notes.journal()]

    @property
    def history(self) -> list[ClientOperation]:
        """The operations of this test's workloads, and the faults of the cluster meanwhile."""
        return self.notes.history()

    def history_lines(self) -> list[dict[str, Any]]:
        """The same as lines of the run's histories."""
        return [{**self._about, **operation.to_dict()} for operation in self.history]

    @property
    def _about(self) -> dict[str, Any]:
        return {"case": self.case, "attempt": self.attempt}

    def _client(
        self,
        addresses: Sequence[tuple[str, int]],
        zookeeper: Address | None,
        *,
        own: bool = True,
        number: int = 0,
        node: int | None = None,
    ) -> BrokerUnderTest:
        """Return a BrokerUnderTest for these addresses.

        ``own``: a broker that was started for tests, so that it contains nothing of other users.
        ``number``: distinguishes several of one test, as their name prefixes must differ. ``node``:
        as in BrokerUnderTest.
        """
        info = self.context.info
        prefix = case_prefix(info.name_prefix, self.context.nonce, self._named_after)
        client = BrokerUnderTest(
            addresses,
            info.api_versions,
            time_scale=info.time_scale * FACTORS[self.slow],
            name_prefix=f"{prefix}-{number}" if number else prefix,
            seed=f"{self.context.seed}/{self.case}",
            observer=self.wire.see,
            topic_maker=None if zookeeper is None else ZookeeperTopics(zookeeper),
            grants=None if own else grants_of(info),
            greases=self.context.greases,
            node=node,
            private=own,
            reached=None if own else {(*at,): here for at, here in info.reached.items()},
        )
        client.user_watch = None if own else self.refusals
        self.brokers.append(client)
        return client

    @property
    def _named_after(self) -> str:
        """The name of this attempt: the objects of an earlier attempt may still exist."""
        return self.node_id if self.asked == 1 else f"{self.node_id}#{self.asked}"

    @property
    def must_be_asked_again(self) -> bool:
        """True if another attempt may give a verdict.

        Either the machine was too slow, and longer timeouts are left; or the broker died while
        other processes used it too, so that the test that killed it is unknown.
        """
        if self.too_slow and self.slow + 1 < len(FACTORS):
            return True
        return self.died and self.broker.can_be_replaced and not self.broker.is_ours_alone

    def finish(self, error: BaseException | None, trace: Callable[[], str]) -> list[CheckRecord]:
        """Close the case: every declared requirement has a record now, evidence is written."""
        self.too_slow = isinstance(error, TooSlow)
        asked = self._shared is not None and not isinstance(error, NotSupported | Inconclusive)
        self.died = asked and not self.shared_broker().is_alive()
        if error is None and self.died:
            error = BrokerMisbehaved("the broker no longer answers after this test")
        with_zookeeper = LEADER_AND_ISR in self.context.info.api_versions
        for name, told in self.watch.broken(with_zookeeper=with_zookeeper).items():
            broken_meanwhile(name, told)
        records = finish_case(error)
        if self.died:
            records = [_with_death(record) for record in records]
        elif self.refusals is not None:
            records = by_rights(records, self.refusals.found, self.requirements)
        self.quiet = all(record.verdict in _QUIET for record in records)
        records = self._by_date(records, error)
        if self.quiet:
            return records
        return with_evidence(records, self._write_evidence(records, trace()))

    def _by_date(
        self, records: Sequence[CheckRecord], error: BaseException | None
    ) -> list[CheckRecord]:
        """Judge only by what the target's release promises; the evidence is kept."""
        info = self.context.info
        return by_date(
            records,
            implementation=APACHE_KAFKA if info.like else info.implementation,
            release=info.like or info.release,
            newer=info.newer,
            catalogue=load_catalogue(),
            undecided=isinstance(error, Inconclusive),
        )

    def close(self) -> None:
        """Leave nothing behind: topics, connections, a private broker."""
        for client in self.brokers:
            try:
                client.close()
            except (BrokerMisbehaved, ApiNotAdvertised):
                continue  # the verdict is given; a dead broker is seen by the next test
        if self.private is not None:
            self.private.stop()

    def _write_evidence(self, records: Sequence[CheckRecord], trace: str) -> str:
        folder = self.context.run_dir / "evidence"
        folder.mkdir(exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", self.case)[:150]
        file = folder / f"{name}-{zlib.crc32(self.case.encode()):08x}-{self.attempt}.txt"
        file.write_text("\n".join(self._evidence(records, trace)), "utf-8")
        return f"evidence/{file.name}"

    def _evidence(self, records: Sequence[CheckRecord], trace: str) -> list[str]:
        info = self.context.info
        lines = [f"case     {self.case}", f"target   {info.spec} ({info.implementation})"]
        lines += [f"repeat   {self.repeat_command()}", ""]
        catalogue = load_catalogue()
        for record in records:
            statement = catalogue.requirement(record.requirement).statement
            lines += [f"{record.requirement} {record.level}: {statement}"]
            lines += [f"  {record.verdict}: {record.text}", ""]
        lines += ["-- test --", trace, "", "-- wire --"]
        for client in self.brokers:
            lines += [transcript.render() for transcript in client.transcripts]
        if done := self._journal():
            lines += ["", "-- faults --", *map(json.dumps, done)]
        lines += ["", "-- the broker's log, its end --", self._log_tail()]
        return lines

    def repeat_command(self) -> str:
        """The command that runs just this case again."""
        spec, client = shlex.quote(self.context.info.spec), shlex.quote(self.context.client)
        if is_bundled() and self.context.client:
            chosen = f"--client {client} --target {spec} --requirement {self.requirements[0]}"
            return f"kafka-conformance clients {chosen} --out results"
        options = f"--target {spec} --seed {self.context.seed}"
        options += " --grease" if self.context.greases else ""
        options += f" --client {client}" if self.context.client else ""
        if is_bundled():  # pytest would not find the suites inside the wheel
            return f"kafka-conformance run --case {shlex.quote(self.case)} {options} --out results"
        return f"pytest {shlex.quote(self.node_id)} {options}"

    def _log_tail(self) -> str:
        own = self.private or self.pooled
        path = (own.log_path if own else None) or self.broker.log_path
        if path is None or not path.exists():
            return "(no log)"
        data = path.read_bytes()
        return data[-_LOG_TAIL_BYTES:].decode("utf-8", "replace")


def _with_death(record: CheckRecord) -> CheckRecord:
    """Add the broker's death to the reason of a check that failed with it."""
    if record.verdict is not Verdict.FAILED:
        return record
    return replace(record, reason=f"{record.reason}; the broker no longer answers at all")

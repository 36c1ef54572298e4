"""One workload through the faults of one seed: its history, and the checker's judgement."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from harness.base.address import Address
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.histories.judgement import HistoryVerdict, Judgement
from harness.histories.transaction_checker import check_transactions
from harness.histories.transaction_mode import FENCES_EACH_END, TransactionMode
from harness.targets.asking import ask_api_versions
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.target import Target
from labs.crash_loops.reading import NotReadable
from labs.crash_loops.stage import ASK_MS, cluster_of
from labs.hang_limit import HANGS_AFTER_S
from labs.late_end.__main__ import negotiates_newer
from labs.transaction_histories.committed import GIVE_UP_S, final_read
from labs.transaction_histories.confluent import ConfluentProducer, ConfluentReader
from labs.transaction_histories.nemesis import (
    CUT,
    KILL,
    LATE,
    PAUSE,
    TransactionFault,
    TransactionNemesis,
)
from labs.transaction_histories.notes import READER, TransactionNotes
from labs.transaction_histories.producer import WireProducer
from labs.transaction_histories.reader import (
    CONSUMER,
    CommittedReader,
    committed_ends,
    read_offset,
)
from labs.transaction_histories.wire import ClientWire
from labs.transaction_histories.workloads import (
    INPUTS,
    PARTITIONS,
    Appends,
    Feeds,
    TransactionalClient,
    TransactionWorker,
    Transfers,
    Transforms,
    amount_of,
)

APPENDS, TRANSFERS, TRANSFORMS = "appends", "transfers", "transforms"
WORKLOADS = (APPENDS, TRANSFERS, TRANSFORMS)
PRODUCERS = 3
PAUSE_S = 0.05
OWN, CONFLUENT = "own", "confluent-kafka"
CLIENTS = (OWN, CONFLUENT)
MORE = 3
"""Committed transactions of each producer that are awaited before each fault and at the end."""
REPLICAS = 3
DELAYING = (CUT, KILL, LATE, PAUSE)
"""Faults by which a request may arrive after its sender has given it up."""


@dataclass(frozen=True, slots=True)
class RunPatience:
    """Seconds after which a producer does not go on, and a log is not readable to its end."""

    go_on_s: float = HANGS_AFTER_S
    read_s: float = GIVE_UP_S


@dataclass(slots=True)
class TransactionRun:
    """``committed``: transactions that were acknowledged. ``seconds``: of the whole run."""

    workload: str
    seed: int
    client: str
    mode: TransactionMode
    faults: list[TransactionFault]
    patience: RunPatience
    notes: TransactionNotes = field(default_factory=TransactionNotes)
    judgement: Judgement = field(
        default_factory=lambda: Judgement(HistoryVerdict.UNKNOWN, why="not run")
    )
    seconds: float = 0.0

    @property
    def history(self) -> list[ClientOperation]:
        return self.notes.history

    @property
    def outcomes(self) -> Counter[OperationOutcome]:
        """Of the commits; ``invoke``: all that were requested."""
        return Counter(one.outcome for one in self.history if one.action is ClientAction.COMMIT)


class _Reader(Protocol):
    """A consumer of all partitions."""

    def run(self, stop: threading.Event) -> None: ...


class _Load:
    """The threads of a workload, and their unexpected errors."""

    def __init__(
        self, workers: list[TransactionWorker], reader: _Reader, run: TransactionRun
    ) -> None:
        self._workers, self._failed = workers, list[BaseException]()
        self._run = run
        self._stop, self._all_read = threading.Event(), threading.Event()
        self._threads = [self._thread(one.run, self._stop) for one in workers]
        self._reader = self._thread(reader.run, self._all_read)

    def _thread(
        self, run: Callable[[threading.Event], None], stop: threading.Event
    ) -> threading.Thread:
        def guarded() -> None:
            try:
                run(stop)
            except BaseException as failed:  # raised again by await_more and stop
                self._failed.append(failed)

        return threading.Thread(target=guarded)

    def begin(self) -> None:
        for thread in (*self._threads, self._reader):
            thread.start()

    def await_more(self) -> bool:
        """Wait until each producer has some more committed transactions.

        False: one does not go on, which is noted. Raises the errors of the threads.
        """
        wanted = {one.name: one.committed + MORE for one in self._workers}
        deadline = time.monotonic() + self._run.patience.go_on_s
        while slow := [one for one in self._workers if one.committed < wanted[one.name]]:
            self.raise_failed()
            if time.monotonic() > deadline:
                for one in slow:
                    self._run.notes.stuck(one.name, "it commits no more transactions")
                return False
            time.sleep(PAUSE_S)
        return True

    def raise_failed(self) -> None:
        if self._failed:
            raise self._failed[0]

    def stop(self) -> None:
        """End the producers, then the consumer at the end of the log."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._all_read.set()
        self._reader.join()


def play(
    target: Target,
    workload: str,
    seed: int,
    faults: list[TransactionFault],
    client: str = OWN,
    patience: RunPatience | None = None,
) -> TransactionRun:
    """Carry out the workload on a started target; errors of the run make its verdict unknown."""
    newer = client == OWN and negotiates_newer(target)  # librdkafka 2.16 has the older one
    mode = TransactionMode(
        transaction_version=FENCES_EACH_END if newer else 0,
        late_requests=any(fault.kind in DELAYING for fault in faults),
    )
    run = TransactionRun(workload, seed, client, mode, faults, patience or RunPatience())
    began_s = time.monotonic()
    try:
        _carry_out(run, target, newer=newer)
        amounts = amount_of if workload == TRANSFERS else None
        run.judgement = check_transactions(run.history, mode, amounts)
    except Exception as problem:
        why = f"the run itself failed: {type(problem).__name__}: {problem}"
        run.judgement = Judgement(HistoryVerdict.UNKNOWN, why=why)
    run.seconds = time.monotonic() - began_s
    return run


def _carry_out(run: TransactionRun, target: Target, *, newer: bool) -> None:
    with ExitStack() as opened:
        cluster = opened.enter_context(cluster_of(target))
        topic = _topic(cluster)
        behind = opened.enter_context(proxied(target, seed=run.seed))
        wires = _Wires(target, behind, topic)
        opened.callback(wires.close)
        workers = list(_workers(run, wires, newer=newer))
        reader = _reader(run, wires)
        with _under_way(_Load(workers, reader, run)) as load:
            nemesis = TransactionNemesis(target, behind, run.notes)
            for fault in run.faults:
                if not load.await_more():
                    break
                nemesis.strike(fault)
            else:
                load.await_more()
        load.raise_failed()
        if run.workload == TRANSFORMS:
            for worker in workers:
                if isinstance(worker, Transforms):
                    read_offset(wires.new(READER), run.notes, READER, worker.group,
                                worker.partition)  # fmt: skip
        _read_all(run, cluster, topic)


def _read_all(run: TransactionRun, cluster: Cluster, topic: Topic) -> None:
    try:
        final_read(lambda at: cluster.leader_client(topic, at), topic, PARTITIONS, run.notes,
                   run.patience.read_s)  # fmt: skip
    except NotReadable as problem:
        run.notes.stuck(READER, str(problem))


class _Wires:
    """Makes the connections of each thread: all through the proxies."""

    def __init__(self, target: Target, behind: ProxiedTarget, topic: Topic) -> None:
        self._addresses: Mapping[int, Address] = {
            node: behind.address_of(node) for node in target.nodes
        }
        self._versions = ask_api_versions(target.addresses[0], ASK_MS)
        self._topic, self._made = topic, list[ClientWire]()

    def new(self, client_id: str) -> ClientWire:
        made = ClientWire(self._addresses, self._versions, self._topic, client_id)
        self._made.append(made)
        return made

    @property
    def bootstrap(self) -> str:
        """The addresses as clients of other people take them."""
        return ",".join(map(str, self._addresses.values()))

    @property
    def topic(self) -> str:
        return self._topic.name

    def close(self) -> None:
        for wire in self._made:
            wire.close()


@contextmanager
def _under_way(load: _Load) -> Iterator[_Load]:
    load.begin()
    try:
        yield load
    finally:
        load.stop()


def _workers(run: TransactionRun, wires: _Wires, *, newer: bool) -> Iterator[TransactionWorker]:
    def producer(name: str) -> WireProducer:
        return WireProducer(name, wires.new(name), run.notes, newer=newer)

    def either(name: str) -> TransactionalClient:
        if run.client == OWN:
            return producer(name)
        return ConfluentProducer(name, wires.bootstrap, wires.topic, run.notes)

    seed = f"{run.seed} {run.workload}"
    if run.workload == TRANSFORMS:
        yield Feeds(either("feeder"), seed)
        for partition in range(INPUTS):
            yield Transforms(producer(f"transformer {partition}"), seed, run.notes, partition)
        return
    kind = {APPENDS: Appends, TRANSFERS: Transfers}[run.workload]
    for number in range(PRODUCERS):
        yield kind(either(f"producer {number}"), seed)


def _reader(run: TransactionRun, wires: _Wires) -> _Reader:
    wire = wires.new(CONSUMER)
    if run.client == OWN:
        return CommittedReader(wire, run.notes, PARTITIONS, run.patience.read_s)
    ends = partial(committed_ends, wire)
    return ConfluentReader(
        wires.bootstrap, wires.topic, run.notes, PARTITIONS, ends, run.patience.read_s
    )


def _topic(cluster: Cluster) -> Topic:
    """Create a topic in which each node leads some partitions."""
    nodes = cluster.nodes
    replicas = min(REPLICAS, len(nodes))
    assignment = [
        [nodes[(first + k) % len(nodes)] for k in range(replicas)] for first in range(PARTITIONS)
    ]
    return cluster.create_topic(assignment, {"min.insync.replicas": str(max(1, replicas - 1))})

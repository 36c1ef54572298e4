"""One workload through the faults of one seed: its history, and the checker's judgement."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.histories.judgement import HistoryVerdict, Judgement
from harness.histories.transaction_checker import check_transactions
from harness.histories.transaction_mode import FENCES_EACH_END, TransactionMode
from harness.targets.proxied import proxied
from harness.targets.target import Target
from labs.crash_loops.reading import NotReadable
from labs.crash_loops.stage import cluster_of
from labs.hang_limit import HANGS_AFTER_S
from labs.late_end.__main__ import negotiates_newer
from labs.transaction_histories.client_families import (
    NEGOTIATES_NEWER,
    OWN,
    ClientFamily,
    FamilyNeeds,
    HistoryReader,
    RunWires,
    family,
)
from labs.transaction_histories.committed import GIVE_UP_S, final_read
from labs.transaction_histories.nemesis import (
    CUT,
    KILL,
    LATE,
    PAUSE,
    SPLIT,
    TransactionFault,
    TransactionNemesis,
)
from labs.transaction_histories.notes import READER, TransactionNotes
from labs.transaction_histories.reader import read_offset
from labs.transaction_histories.schedules import OverlappingFaults, carry_out
from labs.transaction_histories.wire import GivenUp
from labs.transaction_histories.workloads import (
    APPENDS,
    INPUTS,
    PARTITIONS,
    TRANSFERS,
    TRANSFORMS,
    Appends,
    Feeds,
    TransactionWorker,
    Transfers,
    Transforms,
    amount_of,
)

PRODUCERS = 3
PAUSE_S = 0.05
MORE = 3
"""Committed transactions of each producer that are awaited before each fault and at the end."""
REPLICAS = 3
DELAYING = {CUT, KILL, LATE, PAUSE, SPLIT}
"""Faults by which a request may arrive after its sender has given it up."""


RunFault = TransactionFault | OverlappingFaults


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
    faults: Sequence[RunFault]
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


class _Load:
    """The threads of a workload, and their unexpected errors."""

    def __init__(
        self, workers: list[TransactionWorker], reader: HistoryReader, run: TransactionRun
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
    faults: Sequence[RunFault],
    client: str = OWN,
    patience: RunPatience | None = None,
) -> TransactionRun:
    """Carry out the workload on a started target; errors of the run make its verdict unknown."""
    newer = client in NEGOTIATES_NEWER and negotiates_newer(target)
    mode = TransactionMode(
        transaction_version=FENCES_EACH_END if newer else 0,
        late_requests=any(fault.kinds & DELAYING for fault in faults),
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
        wires = RunWires(target, behind, topic)
        opened.callback(wires.close)
        needs = FamilyNeeds(wires, run.notes, newer, run.patience.read_s, opened)
        clients = family(run.client, needs)
        workers, reader = list(_workers(run, clients, wires)), clients.reader()
        with _under_way(_Load(workers, reader, run)) as load:
            nemesis = TransactionNemesis(target, behind, run.notes)
            for fault in run.faults:
                if not load.await_more():
                    break
                _strike(fault, nemesis)
            else:
                load.await_more()
        load.raise_failed()
        _read_offsets(run, wires, workers)
        _read_all(run, cluster, topic)


def _strike(fault: RunFault, nemesis: TransactionNemesis) -> None:
    if isinstance(fault, OverlappingFaults):
        carry_out(fault, nemesis)
    else:
        nemesis.strike(fault)


def _read_offsets(
    run: TransactionRun, wires: RunWires, workers: Iterable[TransactionWorker]
) -> None:
    try:
        for worker in workers:
            if isinstance(worker, Transforms):
                wire = wires.new(READER)
                read_offset(wire, run.notes, READER, worker.group, worker.partition)
    except GivenUp as problem:
        run.notes.stuck(READER, str(problem))


def _read_all(run: TransactionRun, cluster: Cluster, topic: Topic) -> None:
    try:
        final_read(lambda at: cluster.leader_client(topic, at), topic, PARTITIONS, run.notes,
                   run.patience.read_s)  # fmt: skip
    except NotReadable as problem:
        run.notes.stuck(READER, str(problem))


@contextmanager
def _under_way(load: _Load) -> Iterator[_Load]:
    load.begin()
    try:
        yield load
    finally:
        load.stop()


def _workers(
    run: TransactionRun, clients: ClientFamily, wires: RunWires
) -> Iterator[TransactionWorker]:
    seed = f"{run.seed} {run.workload}"
    if run.workload == TRANSFORMS:
        yield Feeds(clients.producer("feeder"), seed)
        for partition in range(INPUTS):
            name = f"transformer {partition}"
            yield Transforms(clients.producer(name), seed, run.notes, partition, wires.new(name))
        return
    kind = {APPENDS: Appends, TRANSFERS: Transfers}[run.workload]
    for number in range(PRODUCERS):
        yield kind(clients.producer(f"producer {number}"), seed)


def _topic(cluster: Cluster) -> Topic:
    """Create a topic in which each node leads some partitions."""
    nodes = cluster.nodes
    replicas = min(REPLICAS, len(nodes))
    assignment = [
        [nodes[(first + k) % len(nodes)] for k in range(replicas)] for first in range(PARTITIONS)
    ]
    return cluster.create_topic(assignment, {"min.insync.replicas": str(max(1, replicas - 1))})

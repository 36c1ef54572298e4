"""A producer that runs while brokers come and go, and the fate of its records.

It sends every value once: a value without a response may be in the log or not. So the history has
no copies from retries, and a checker can find lost writes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.error_details import error_details
from harness.histories.checker import check
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.histories.judgement import HistoryVerdict
from suites.protocol.support.appended import batch_of
from suites.protocol.support.fetching import records_of

PAUSE_S = 0.01
PARTITION = 0
NOT_WRITTEN = {ErrorCode.NOT_ENOUGH_REPLICAS}
"""Errors after which the record is certainly not in the log.

A leader that is deposed while it waits for its followers returns NOT_LEADER_OR_FOLLOWER for a
record that it has written.
"""


@dataclass(slots=True)
class ClusterWorkload:
    """``codes``: how often each error was answered; ``history``: as the checker reads it.

    Every operation is handed to the case's history too, in which the faults stand.
    """

    cluster: Cluster
    topic: Topic
    history: list[ClientOperation] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _failed: list[BaseException] = field(default_factory=list)
    first: int = 1
    _sent: int = 0

    @property
    def acknowledged(self) -> int:
        """The number of acknowledged records so far."""
        return sum(1 for one in list(self.history) if one.outcome is OperationOutcome.OK)

    def await_more(self, count: int = 20) -> None:
        """Wait until so many more records are acknowledged."""
        wanted = self.acknowledged + count
        self.cluster.await_that(
            lambda: self.acknowledged, lambda seen: seen >= wanted, f"{count} more acknowledged"
        )

    def await_next(self) -> None:
        """Wait until another record is sent, acknowledged or not."""
        before = self._sent
        self.cluster.await_that(
            lambda: self._sent, lambda sent: sent > before, "another record is sent"
        )

    def run(self, clients: dict[int, BrokerUnderTest]) -> None:
        """Send records in a thread of its own, until :meth:`stop`."""
        try:
            while not self._stopped.is_set():
                self._send_one(clients)
                time.sleep(PAUSE_S)
        except Exception as failed:  # raised in the test's thread  # noqa: BLE001
            self._failed.append(failed)

    def _send_one(self, clients: dict[int, BrokerUnderTest]) -> None:
        leader = self._leader(clients)
        if leader is None:
            return
        value = f"{self.first + self._sent}"
        self._sent += 1
        self._note(OperationOutcome.INVOKE, value)
        try:
            answer = clients[leader].produce(self.topic, batch_of(value.encode()), acks=-1)
        except BrokerMisbehaved as failed:
            self._note(OperationOutcome.INFO, value, detail=f"{type(failed).__name__}")
            return
        self.codes[answer.error_code] += 1
        if answer.error_code == ErrorCode.NONE:
            self._note(OperationOutcome.OK, value, offset=answer.base_offset)
        else:
            surely = answer.error_code in NOT_WRITTEN
            outcome = OperationOutcome.FAIL if surely else OperationOutcome.INFO
            self._note(outcome, value, detail=ErrorCode.describe(answer.error_code))

    def _leader(self, clients: dict[int, BrokerUnderTest]) -> int | None:
        """Return the first leader that a broker names; None if no broker names one."""
        for client in clients.values():
            with suppress(BrokerMisbehaved):
                for topic in client.metadata([self.topic.name]).topics:
                    for partition in topic.partitions:
                        if partition.leader_id in clients:
                            return partition.leader_id
        return None

    def _note(
        self, outcome: OperationOutcome, value: str, offset: int = -1, detail: str = ""
    ) -> None:
        at_ms = self.cluster.notes.now_ms()
        self._keep(
            ClientOperation(
                "producer", outcome, ClientAction.SEND, PARTITION, offset, value, detail, at_ms
            )
        )

    def _keep(self, operation: ClientOperation) -> None:
        """Keep the operation in the history, for the checker, and in the notes of the case."""
        self.history.append(operation)
        self.cluster.notes.saw(operation)

    def stop(self, thread: threading.Thread) -> None:
        """Stop after the last response. Raises an unexpected error of the thread."""
        self._stopped.set()
        thread.join()
        if self._failed:
            raise self._failed[0]

    # -- afterwards ------------------------------------------------------------------------------

    def expect_nothing_lost(self) -> None:
        """All acknowledged records are in the log, once and in order, at the returned offset."""
        for operation in self._final_read():
            self._keep(operation)
        judged = check(self.history)
        found = "; ".join(map(str, judged.findings))
        assert judged.verdict is not HistoryVerdict.INVALID, found
        if judged.verdict is HistoryVerdict.UNKNOWN:
            raise PreparationFailed(f"the workload proves nothing: {judged.why}")

    def _final_read(self) -> Iterator[ClientOperation]:
        done = partial(
            ClientOperation, "reader", OperationOutcome.OK, ClientAction.FINAL_READ, PARTITION
        )
        now_ms = self.cluster.notes.now_ms
        client = self.cluster.leader_client(self.topic)
        end, offset = client.end_offset(self.topic), 0
        while offset < end:
            for at, value in records_of(client.fetch(self.topic, offset)):
                if at >= offset:
                    text = (value or b"").decode()
                    yield done(at, text, at_ms=now_ms())
                    offset = at + 1
        yield done(at_ms=now_ms())

    def expect_retriable(self) -> None:
        """No response has an error that makes the producer give up."""
        for code, count in self.codes.items():
            details = error_details().get(code)
            assert code == ErrorCode.NONE or (details is not None and details.retriable), (
                f"{count} records were answered with {ErrorCode.describe(code)}"
            )


@contextmanager
def under_load(cluster: Cluster, topic: Topic, first: int = 1) -> Iterator[ClusterWorkload]:
    """A producer with acks=all to partition 0 while the block runs; it ends with the block.

    Its values are numbers from ``first`` on.
    """
    workload = ClusterWorkload(cluster, topic, first=first)
    clients = cluster.own_clients()
    thread = threading.Thread(target=workload.run, args=(clients,))
    thread.start()
    try:
        workload.await_more(1)
        yield workload
    finally:
        workload.stop(thread)

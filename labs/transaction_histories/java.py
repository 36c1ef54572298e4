"""The official client, in a Java process of each thread, as a producer and as a consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.clients.calls import ClientFailed
from harness.clients.session import ClientSession
from labs.clients.official import official
from labs.transaction_histories.library_producer import (
    LibraryFailed,
    LibraryProducer,
    SentRecord,
)
from labs.transaction_histories.library_reader import Ends, LibraryReader, PolledRecord
from labs.transaction_histories.notes import TransactionNotes

Session = Callable[[str], ClientSession]
"""Starts the process of a thread with this name."""


def sessions(bootstrap: str, folder: Path, opened: ExitStack) -> Session:
    """Return a function that starts processes, which end with ``opened``."""

    def start(name: str) -> ClientSession:
        log = folder / f"{name.replace(' ', '-')}.log"
        return opened.enter_context(official(bootstrap, log))

    return start


class JavaProducer(LibraryProducer):
    """KafkaProducer; it takes the newer form of transactions where the brokers have it."""

    def __init__(self, name: str, topic: str, notes: TransactionNotes, start: Session) -> None:
        super().__init__(name, topic, notes)
        self._session = start(name)

    def _call(self, name: str, **arguments: Any) -> Any:
        try:
            return self._session.call(f"transaction_{name}", **arguments)
        except ClientFailed as failed:
            raise LibraryFailed(str(failed).splitlines()[0]) from failed

    def open_producer(self) -> None:
        self._call("open", transactional_id=self.transactional_id)

    def begin_transaction(self) -> None:
        self._call("begin")

    def hand_over(self, partition: int, values: Sequence[str]) -> None:
        self._call("send", topic=self.topic, partition=partition, values=list(values))

    def flush(self) -> list[SentRecord]:
        return [SentRecord(*one) for one in self._call("flush")]

    def add_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        self._call("offsets", topic=self.topic, group=group, offsets=[*offsets.items()])

    def end_transaction(self, *, commits: bool) -> None:
        self._call("end", commits=commits)

    def close_producer(self) -> None:
        self._call("close")


class JavaReader(LibraryReader):
    """KafkaConsumer without a group."""

    def __init__(
        self,
        topic: str,
        notes: TransactionNotes,
        partitions: int,
        ends: Ends,
        give_up_s: float,
        start: Session,
    ) -> None:
        super().__init__(topic, notes, partitions, ends, give_up_s)
        self._session = start(self.name)

    def open_consumer(self) -> None:
        self._session.call("committed_open", topic=self.topic, partitions=len(self.partitions))

    def poll(self) -> Iterable[PolledRecord]:
        return [(at, offset, value) for at, offset, value in self._session.call("committed_poll")]

    def position(self, partition: int) -> int:
        found: int = self._session.call("committed_position", topic=self.topic, partition=partition)
        return found

    def close_consumer(self) -> None:
        self._session.call("committed_close")

"""A workload on logs in a folder, drawn by a seed, and the required contents at each time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar
from unittest import mock
from uuid import UUID

from harness.base.ids import BrokerId, LeaderEpoch, PartitionIndex, TimeMs
from harness.codec.data_framing.log_folder import LOG_STARTS, OFFSET_CHECKPOINTS
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.state.cleaning.log_cleanable import cleanable
from harness.reference_broker.state.cleaning.log_compaction import compact
from harness.reference_broker.state.cleaning.log_retention import delete_old_segments
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.partition.replica_host import ReplicaHost
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.storage import log_directory
from harness.reference_broker.storage.log_directories import LogDirectories
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.stored_log import StoredLog
from labs.power_model.recorded_calls import Recording

OWN, BEGIN = BrokerId(1), TimeMs(1_700_000_000_000)
SMALL = {
    "internal.segment.bytes": "1500",
    "index.interval.bytes": "0",
    "file.delete.delay.ms": "2000",
    "retention.bytes": "6000",
}
COMPACTED = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
TOPICS: dict[str, dict[str, str]] = {
    "flushed": {**SMALL, "flush.messages": "1"},
    "now-and-then": {**SMALL, "flush.messages": "5"},
    "by-time": {**SMALL, "flush.ms": "3000"},
    "never": SMALL,
    "compacted": {**SMALL, **COMPACTED, "flush.messages": "1"},
}
KEYS = 4
PRODUCER, EPOCH = 9, 7


class HeldFlusher:
    """Replacement of the flusher's thread: holds tasks until ``work`` or ``shutdown`` runs."""

    held: ClassVar[list[Callable[[], None]]] = []

    def __init__(self, *_: object) -> None:
        self.held.clear()

    def submit(self, do: Callable[..., None], *words: Any) -> Future[None]:
        self.held.append(lambda: do(*words))
        return Future()

    @classmethod
    def work(cls) -> None:
        """Run all held tasks."""
        while cls.held:
            cls.held.pop(0)()

    def shutdown(self) -> None:
        """Run all held tasks, as the thread does before its end."""
        self.work()


@dataclass(frozen=True, slots=True)
class SentBatches:
    """A record that was appended, and acknowledged after this number of calls."""

    offset: int
    key: bytes | None
    value: bytes
    begun_at: int
    acknowledged_at: int


@dataclass(slots=True)
class LogHistory:
    """The history of a partition; each note holds from its number of calls on."""

    topic: str
    sent: list[SentBatches] = field(default_factory=list)
    flushed: list[tuple[int, int]] = field(default_factory=list)  # (calls, below this offset)
    noted_starts: list[tuple[int, int]] = field(default_factory=list)
    starts: list[tuple[int, int]] = field(default_factory=list)

    @property
    def configs(self) -> dict[str, str]:
        return TOPICS[self.topic]


def open_partition(logs: LogDirectory, topic: str, now: TimeMs) -> Partition:
    """Return a replica that leads alone, with its log in this folder."""
    host = ReplicaHost(OWN, storage=LogDirectories([logs]))
    registration = PartitionRegistration((OWN,), (OWN,), OWN, LeaderEpoch(0))
    producers = ProducerStates(ProducerExpiration(86_400_000, 600_000), RememberedProducers())
    config, index = TopicConfig.of(TOPICS[topic], {}), PartitionIndex(0)
    topic_id = UUID(int=1 + list(TOPICS).index(topic))
    return Partition.empty(topic_id, index, config, producers, host, registration, now, topic)


class DiskWorkload:
    """``histories`` by topic, when :meth:`run` is over."""

    def __init__(self, recording: Recording, random: Random) -> None:
        self._recording, self._random, self._now = recording, random, BEGIN
        self.histories = {topic: LogHistory(topic) for topic in TOPICS}
        self._logs: LogDirectory | None = None
        self._partitions: dict[str, Partition] = {}
        self._steps: list[tuple[int, Callable[[], None]]] = [
            (60, self._append),
            (6, self._delete_records),
            (6, self._retain),
            (8, self._checkpoint),
            (6, self._flush_due),
            (6, HeldFlusher.work),
            (4, self._tidy),
            (6, self._compact),
            (1, self._end_in_order),
            (2, self._be_killed),
        ]

    def run(self, steps: int, *, ends_in_order: bool = False) -> None:
        """Run so many steps and record them; then end in order, or else as by a kill."""
        weights = [weight for weight, _ in self._steps]
        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(log_directory, "ThreadPoolExecutor", HeldFlusher))
            stack.enter_context(self._recording.watching())
            self._open()
            for _, step in self._random.choices(self._steps, weights, k=steps):
                self._now = TimeMs(self._now + self._random.choice((1, 100, 1500)))
                step()
                self._note()
            if ends_in_order:
                self._running.close(broker_epoch=EPOCH)
            else:
                HeldFlusher.held.clear()
                self._running.close(broker_epoch=None)
        self._recording.expect_whole()

    @property
    def _running(self) -> LogDirectory:
        assert self._logs is not None
        return self._logs

    @property
    def _calls(self) -> int:
        return len(self._recording.calls)

    def _any(self) -> tuple[LogHistory, Partition]:
        topic = self._random.choice(list(TOPICS))
        return self.histories[topic], self._partitions[topic]

    def _note(self) -> None:
        """Note the recovery point and start offset that each log must keep from now on."""
        for topic, partition in self._partitions.items():
            log, history = partition.log, self.histories[topic]
            assert isinstance(log, StoredLog)
            history.flushed.append((self._calls, log.recovery_point))
            history.starts.append((self._calls, log.start_offset))

    # -- steps -----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._logs = LogDirectory(self._recording.root)
        for topic in TOPICS:
            self._partitions[topic] = open_partition(self._logs, topic, self._now)
            found, history = self._partitions[topic].log, self.histories[topic]
            assert found.end_offset == len(history.sent), "the process alone has ended"

    def _append(self) -> None:
        history, partition = self._any()
        key = b"%d" % self._random.randrange(KEYS) if history.topic == "compacted" else None
        number, begun_at = len(history.sent), self._calls
        value = (b"%s-%d " % (history.topic.encode(), number)).ljust(
            self._random.choice((20, 100, 700)), b"."
        )
        batch = RecordBatch(
            [Record(value, key)],
            base_timestamp=self._now,
            producer_id=PRODUCER,
            producer_epoch=0,
            base_sequence=number,
        )
        appended = partition.append(encode_batch(batch), self._now)
        assert appended.base_offset == number
        history.sent.append(SentBatches(number, key, value, begun_at, self._calls))

    def _delete_records(self) -> None:
        history, partition = self._any()
        if history.topic != "compacted" and partition.log.end_offset:
            begin, end = partition.log.start_offset, partition.log.end_offset
            partition.delete_records(self._random.randint(begin, end))

    def _retain(self) -> None:
        delete_old_segments(self._any()[1], self._now)

    def _checkpoint(self) -> None:
        names = [name for name in OFFSET_CHECKPOINTS if self._random.random() < 0.7]
        for partition in self._partitions.values():
            partition.note_offsets()
        self._running.checkpoint(names)
        for topic, partition in self._partitions.items():
            log = partition.log
            assert isinstance(log, StoredLog)
            if LOG_STARTS in names and log.noted_start is not None:
                self.histories[topic].noted_starts.append((self._calls, log.noted_start))

    def _flush_due(self) -> None:
        self._running.flush_due(self._now)

    def _tidy(self) -> None:
        self._running.tidy(self._now)

    def _compact(self) -> None:
        part = cleanable(self._partitions["compacted"], self._now)
        if part is not None:
            for _ in compact(part, self._now):
                pass

    def _end_in_order(self) -> None:
        self._running.close(broker_epoch=EPOCH)
        self._note()
        self._open()

    def _be_killed(self) -> None:
        """The page cache stays."""
        HeldFlusher.held.clear()
        self._running.close(broker_epoch=None)
        self._open()

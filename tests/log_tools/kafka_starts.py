"""Starts of a real broker on folders that were changed while it was stopped."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.client.connection import Connection
from harness.client.requests import (
    EARLIEST,
    LATEST,
    Topic,
    list_offsets_request,
    produce_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteTopicsRequest, InitProducerIdRequest
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.message_set import LegacyMessage, encode_message_set
from harness.codec.records.record import Record
from harness.targets.errors import TargetStartError
from harness.targets.kafka.broker_config import QUICK_RETURN
from harness.targets.kafka.release import release_key
from harness.targets.kafka.target import KafkaTarget
from labs.awaiting import await_right, await_that
from tests.targets.round_trip import NOT_YET, Talk, eventually

TOPIC, OTHER, GONE = "orders", "bills", "gone"
COUNT = 10  # records in each partition of TOPIC
SETTINGS = {"log.dirs": "one,two", "num.partitions": "2", **QUICK_RETURN}
NODE = 1
Offsets = tuple[int, int]
"""The log start offset and the log end offset that clients see."""


class Starts:
    """A stopped broker with two log directories, and a copy of them before any change.

    TOPIC has one partition in each: ``beside`` in the first, where KRaft has its metadata log, and
    ``victim`` in the second. ``gone`` is a copy of a folder of a topic that was deleted.
    """

    def __init__(self, target: KafkaTarget, kept: Path) -> None:
        """Write, then stop the broker in good order."""
        self.target, self._kept = target, kept
        self.release, self.address = target.release, target.addresses[0]
        self.producer: tuple[int, int] | None = None
        self.gone = kept / f"{GONE}-0"
        self.one, self.two = target.log_directories(NODE)
        self._write()
        self.victim, self.beside = self._number_in(self.two), self._number_in(self.one)
        if self.has_producers:
            assert self.append_as_producer(0) is ErrorCode.NONE
        target.stop_node(NODE)
        for folder in (self.one, self.two):
            shutil.copytree(folder, kept / folder.name)
        self._log_bytes = 0

    @property
    def written(self) -> Offsets:
        """The offsets of ``victim`` before any change; its producer has written one record."""
        return 0, COUNT + self.has_producers

    @property
    def folder(self) -> Path:
        """The folder of ``victim``."""
        return self.two / f"{TOPIC}-{self.victim}"

    @property
    def has_producers(self) -> bool:
        """True if the release has idempotent producers."""
        return release_key(self.release) >= release_key("0.11")

    def _number_in(self, folder: Path) -> int:
        (path,) = folder.glob(f"{TOPIC}-*")
        return int(path.name.removeprefix(f"{TOPIC}-"))

    def _write(self) -> None:
        talk = Talk(self.target)
        for topic in (TOPIC, OTHER, GONE):
            eventually(lambda: talk.leader_of(topic, self.address), f"{topic} has a leader")  # noqa: B023
        for partition in range(2):
            self._append_plain(partition, COUNT)
        talk.write(GONE, b"value", self.address)
        (folder,) = self.one.parent.glob(f"*/{GONE}-0")
        shutil.copytree(folder, self.gone)
        with Connection(self.address, timeout_ms=30_000) as connection:
            version = 1 if self.has_producers else 0
            connection.ask(DeleteTopicsRequest(topic_names=[GONE], timeout_ms=10_000), version)
        await_that(lambda: not folder.exists(), "the deleted topic's folder is renamed")

    def _append_plain(self, partition: int, count: int) -> None:
        if self.has_producers:
            records = encode_batch(RecordBatch([Record(b"value")] * count))
        else:
            records = encode_message_set([LegacyMessage(b"value", magic=0)] * count)
        eventually(lambda: self._appended(partition, records), f"{TOPIC}-{partition} is written")

    def _appended(self, partition: int, records: bytes) -> bool | None:
        error = self.append(partition, records)
        assert error in NOT_YET or error is ErrorCode.NONE, error
        return True if error is ErrorCode.NONE else None

    def append(self, partition: int, records: bytes) -> ErrorCode:
        """Return the error of one Produce request."""
        version = 3 if self.has_producers else 0
        request = produce_request(Topic(TOPIC), records, version, partition=partition)
        with Connection(self.address, timeout_ms=30_000) as connection:
            answer = connection.ask(request, version)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)

    def append_as_producer(self, base_sequence: int) -> ErrorCode:
        """Append one record to ``victim`` as the idempotent producer of the test."""
        producer_id, epoch = self.producer or eventually(self._new_producer, "a producer id")
        self.producer = producer_id, epoch
        batch = RecordBatch(
            [Record(b"next")],
            base_timestamp=int(time.time() * 1000),  # an older producer expires at the start
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=base_sequence,
        )
        records = encode_batch(batch)
        return await_right(
            lambda: self.append(self.victim, records),
            lambda error: error not in NOT_YET,
            "the partition is served",
        )

    def _new_producer(self) -> tuple[int, int] | None:
        asked = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        with Connection(self.address, timeout_ms=30_000) as connection:
            answer = connection.ask(asked, 0)
        return None if answer.error_code else (answer.producer_id, answer.producer_epoch)

    # -- one start -----------------------------------------------------------------------------

    def restore(self) -> None:
        """Put the folders back as they were before the first change."""
        for folder in (self.one, self.two):
            shutil.rmtree(folder)
            shutil.copytree(self._kept / folder.name, folder)

    @contextmanager
    def started(self) -> Iterator[bool]:
        """Start the broker; False if it does not start. At the end it is killed."""
        log = self.target.log_path
        assert log is not None
        self._log_bytes = log.stat().st_size
        try:
            try:
                self.target.restart_node(NODE)
                is_started = True
            except TargetStartError:
                is_started = False
            yield is_started
        finally:
            self.target.kill_node(NODE)

    def log_text(self) -> str:
        """Return the log of the broker since its start."""
        assert self.target.log_path is not None
        with self.target.log_path.open("rb") as file:
            file.seek(self._log_bytes)
            return file.read().decode("utf-8", "replace")

    def offsets(self, partition: int) -> Offsets | ErrorCode:
        """Return the offsets of a partition of TOPIC, or the error."""
        found = []
        for timestamp in (EARLIEST, LATEST):
            request = list_offsets_request(Topic(TOPIC), timestamp, partition=partition)
            with Connection(self.address, timeout_ms=30_000) as connection:
                answer = connection.ask(request, 1)
            got = answer.topics[0].partitions[0]
            if got.error_code:
                return ErrorCode(got.error_code)
            found.append(got.offset)
        return found[0], found[1]

    def await_offsets(self, partition: int, wanted: Offsets) -> None:
        """Wait until clients see these offsets."""
        what = f"{TOPIC}-{partition} has {wanted}"
        await_right(lambda: self.offsets(partition), lambda found: found == wanted, what)


@contextmanager
def starts_of(release: str, mode: str, folder: Path) -> Iterator[Starts]:
    """Start a broker of that release, and stop it for changes of its folders."""
    kept, logs = folder / "kept", folder / "logs"
    kept.mkdir()
    logs.mkdir()
    with KafkaTarget(release, mode=mode, settings=SETTINGS, log_dir=logs) as target:
        yield Starts(target, kept)

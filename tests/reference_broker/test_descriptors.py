"""A process that may open few files: logs share them, and no disk fails because of it."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness.base.ids import Offset
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DescribeLogDirsRequest,
    FetchRequest,
    ProduceRequest,
)
from harness.codec.records import encode_rows
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.storage import log_directory
from harness.reference_broker.storage.log_directories import LogDirectories
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.open_files import (
    OpenFiles,
    close_some,
    open_file,
)
from harness.reference_broker.storage.stored_log import StoredLog
from harness.targets.process import ChildProcess, Deadline
from tests.reference_broker.storage.test_log_directories import in_two, partition_in, write
from tests.reference_broker.storage.test_storage import SMALL
from tests.reference_broker.storage.test_storage import partition_in as partition_in_one
from tests.reference_broker.storage.test_storage import write as write_rows

SOFT, HARD, PARTITIONS = 100, 200, 120
CLIENTS = 250
IN_TIME_MS = 60_000
LISTENING = re.compile(r"^listening on \S+:(\d+)$", re.MULTILINE)
WITH_LIMITS = (
    "import os, resource, sys;"
    f"resource.setrlimit(resource.RLIMIT_NOFILE, ({SOFT}, {HARD}));"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
BROKER = [sys.executable, "-c", WITH_LIMITS, "-m", "harness.cli", "broker", "--port", "0"]


@contextmanager
def broker(folder: Path) -> Iterator[tuple[ChildProcess, tuple[str, int]]]:
    log = folder / "log"
    log.write_text("")
    child = ChildProcess([*BROKER, "--data-dir", str(folder / "data")], log)
    try:
        deadline = Deadline(IN_TIME_MS)
        while (
            said := re.search(r"^listening on \S+:(\d+)$", child.log_text(), re.MULTILINE)
        ) is None:
            assert child.is_alive(), child.log_text()
            assert deadline.left_ms() > 0, child.log_text()
            child.wait(20)
        yield child, ("127.0.0.1", int(said[1]))
        child.terminate(IN_TIME_MS)
    finally:
        child.kill()


def produce_to_all(connection: Connection) -> set[int]:
    """Produce one record to each partition and return the errors."""
    data = ProduceRequest.TopicProduceData(
        name="t",
        partition_data=[
            ProduceRequest.PartitionProduceData(index=at, records=encode_rows([(0, None, b"v")]))
            for at in range(PARTITIONS)
        ],
    )
    request = ProduceRequest(acks=-1, timeout_ms=IN_TIME_MS, topic_data=[data])
    answer = connection.ask(request, 9)
    return {one.error_code for one in answer.responses[0].partition_responses}


def fetch_all(connection: Connection) -> dict[int, int]:
    """The number of partitions by the size of their records."""
    topic = FetchRequest.FetchTopic(
        topic="t",
        partitions=[
            FetchRequest.FetchPartition(partition=at, partition_max_bytes=1 << 20)
            for at in range(PARTITIONS)
        ],
    )
    request = FetchRequest(
        replica_id=-1, max_wait_ms=IN_TIME_MS, min_bytes=1, max_bytes=1 << 20, topics=[topic]
    )
    found: dict[int, int] = {}
    for one in connection.ask(request, 11).responses[0].partitions:
        assert one.error_code == ErrorCode.NONE
        size = len(one.records or b"")
        found[size] = found.get(size, 0) + 1
    return found


@contextmanager
def crowd(address: tuple[str, int]) -> Iterator[int]:
    """Many clients that stay; yields how many of them the broker does not serve."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Connection(address)) for _ in range(CLIENTS)]
        count = 0
        for client in clients:
            try:
                client.ask(ApiVersionsRequest(), 0)
            except ConnectionClosed:
                count += 1
        yield count


@pytest.mark.rotates(8)
def test_broker_with_few_descriptors_serves_many_logs_and_refuses_clients(tmp_path: Path) -> None:
    with broker(tmp_path) as (child, address), Connection(address) as connection:
        topic = CreateTopicsRequest.CreatableTopic(
            name="t", num_partitions=PARTITIONS, replication_factor=1
        )
        made = connection.ask(CreateTopicsRequest(topics=[topic], timeout_ms=IN_TIME_MS), 7)
        assert made.topics[0].error_code == ErrorCode.NONE
        limits = Path(f"/proc/{child.pid}/limits").read_text()
        assert re.search(rf"Max open files +{HARD} +{HARD}", limits)
        assert produce_to_all(connection) == {ErrorCode.NONE}
        with crowd(address) as refused:
            assert CLIENTS - HARD < refused < CLIENTS
            assert produce_to_all(connection) == {ErrorCode.NONE}
            assert list(fetch_all(connection).values()) == [PARTITIONS]
        described = connection.ask(DescribeLogDirsRequest(topics=None), 4)
        assert [one.error_code for one in described.results] == [ErrorCode.NONE]
        with crowd(address) as refused:
            assert refused < CLIENTS  # the places of those before were given back
        assert "fails" not in child.log_text()


def test_open_file_reuses_descriptors_of_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OpenFiles()
    for name in "abc":
        files.descriptor(tmp_path / name)
    allowed, real = 2, os.open

    def scarce(path: Path, flags: int, mode: int) -> int:
        if len(files) > allowed:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", scarce)
    os.close(open_file(tmp_path / "d", os.O_RDWR | os.O_CREAT))
    assert len(files) == 1
    allowed = -1
    with pytest.raises(OSError, match="Too many open files"):
        files.descriptor(tmp_path / "e")
    assert len(files) == 0


def test_descriptor_shortage_fails_append_and_not_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = in_two(tmp_path)
    partition = partition_in(files.logs, "a")
    write(partition)

    def none_left(*_: object) -> int:
        raise OSError(errno.ENFILE, "Too many open files in system")

    with monkeypatch.context() as patched:
        patched.setattr("harness.reference_broker.storage.stored_segment.write_all", none_left)
        with pytest.raises(AppendRefused) as told:
            write(partition)
    assert told.value.error is ErrorCode.KAFKA_STORAGE_ERROR
    assert all(one.is_online for one in files.logs.directories())
    write(partition)
    assert partition.log.end_offset == Offset(2)
    files.close(broker_epoch=1)


def test_batch_iteration_survives_close_of_log_file(tmp_path: Path) -> None:
    files = in_two(tmp_path)
    partition = partition_in(files.logs, "a")
    for _ in range(300):
        write(partition)
    other = tmp_path / "other"
    other.write_bytes(bytes(1 << 20))
    taken: list[int] = []
    found = 0
    for batch in partition.log.between(Offset(0), Offset(300)):
        assert batch.base_offset == found
        found += 1
        while close_some():
            pass
        taken.append(os.open(other, os.O_RDONLY))  # by another, with the number that it had
    for descriptor in taken:
        os.close(descriptor)
    assert found == 300
    files.close()


def test_failed_flush_does_not_advance_recovery_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if data behind it is flushed."""
    logs = LogDirectory(tmp_path)
    of_all = LogDirectories([logs])
    partition = partition_in_one(logs, configs=SMALL)
    log = partition.log
    assert isinstance(log, StoredLog)
    real = log_directory._flush_all

    def for_others(paths: Sequence[Path], open_: Callable[[Path, int], int]) -> None:
        if paths[0].name.startswith("0" * 20):
            raise OSError(errno.EMFILE, "Too many open files")
        real(paths, open_)

    with monkeypatch.context() as patched:
        patched.setattr(log_directory, "_flush_all", for_others)
        write_rows(partition, 30)
        logs._flusher.submit(int).result()
        assert len(log.segments.all()) > 3
        for _ in range(2):
            of_all.checkpoint()
            assert log.recovery_point == 0
    of_all.checkpoint()
    assert log.recovery_point == log.segments.active.base_offset
    assert logs.failure is None
    of_all.close(broker_epoch=None)

"""Many partitions opened after a clean stop: by the storage alone, and by a broker that starts."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.broker.record_load import LIMIT_S, LoadFailed
from bench.storage.logs import fill, open_log, opened
from bench.storage.table import Found, at_most

PARTITIONS, MOST = 1_000, 40.0
_SMALL_BYTES = 64 << 10
_OPENED = "opened"
_LISTENING, _TOPIC = "listening on ", "many"


def measure(rounds: int) -> list[Found]:
    """In turns with an interpreter that imports asyncio and ends."""
    peer = 'python -c "import asyncio"'
    with TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder, clean=True) as logs:
            for index in range(PARTITIONS):
                fill(open_log(logs, index), _SMALL_BYTES)
        alone = [_opening_s(folder) / _import_asyncio_s() for _ in range(rounds + 1)][1:]
    with TemporaryDirectory() as name:
        with _broker(Path(name)) as bootstrap:
            _make_many(bootstrap)
        broker = [_start_s(Path(name)) / _import_asyncio_s() for _ in range(rounds + 1)][1:]
    what = f"{PARTITIONS:,} partitions after a clean stop"
    return [
        at_most(MOST, f"a process that opens {what}", peer, alone),
        at_most(MOST, f"a broker's start with {what}", peer, broker),
    ]


def _import_asyncio_s() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import asyncio"], check=True)
    return time.perf_counter() - began


def _opening_s(folder: Path) -> float:
    """From the start of the process until it has them; it ends in good order then."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "bench.storage.opening", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = process.stdout.readline().strip()
        took = time.perf_counter() - began
    if said != f"{_OPENED} {PARTITIONS}" or process.returncode:
        raise LoadFailed(f"it said {said!r} and ended with {process.returncode}")
    return took


def _open_all(folder: Path) -> None:
    with opened(folder, clean=True) as logs:
        found = [open_log(logs, name.index) for name in logs.kept()]
        count = sum(one.log.size_bytes >= _SMALL_BYTES for one in found if logs.was_clean)
        sys.stdout.write(f"{_OPENED} {count}\n")
        sys.stdout.flush()


def _make_many(bootstrap: str) -> None:
    """Each with a record."""
    at: dict[str, str | int | float | bool] = {"bootstrap.servers": bootstrap}
    admin = AdminClient(at)
    admin.create_topics([NewTopic(_TOPIC, PARTITIONS, 1)])[_TOPIC].result(LIMIT_S)
    producer = Producer(at)
    for index in range(PARTITIONS):
        producer.produce(_TOPIC, b"v", partition=index)
    if left := producer.flush(LIMIT_S):
        raise LoadFailed(f"{left} records are not acknowledged")


@contextmanager
def _broker(folder: Path) -> Iterator[str]:
    """One that listens; it ends in good order."""
    command = [sys.executable, "-m", "harness.cli", "broker", "--port", "0", "--data-dir"]
    with subprocess.Popen([*command, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if line.startswith(_LISTENING):
                yield line.removeprefix(_LISTENING).strip()
                break
        process.terminate()
    if process.returncode:
        raise LoadFailed(f"the broker ended with {process.returncode}")


def _start_s(folder: Path) -> float:
    """From the start of the process until it leads all partitions."""
    began = time.perf_counter()
    with _broker(folder) as bootstrap:
        admin = AdminClient({"bootstrap.servers": bootstrap})
        while True:
            told = admin.list_topics(_TOPIC, LIMIT_S).topics[_TOPIC].partitions.values()
            took = time.perf_counter() - began
            if len(told) == PARTITIONS and all(one.leader >= 0 for one in told):
                return took
            if took > LIMIT_S:
                raise LoadFailed(f"{len(told)} partitions are led after {took:.0f} s")


if __name__ == "__main__":
    _open_all(Path(sys.argv[1]))

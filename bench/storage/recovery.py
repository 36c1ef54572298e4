"""Recovery of a log after kill -9, against reading its file and checking its batches."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import google_crc32c

from bench.broker.record_load import LoadFailed
from bench.storage.logs import RECORDS_IN_BATCH, fill, open_log, opened
from bench.storage.page_cache import drop
from bench.storage.table import Found, at_most, ratios

MOST = 2.0
_PIECE_BYTES = 4 << 20
_LENGTH_AT, _CRC_AT, _CRC_FROM, _OVERHEAD_BYTES = 8, 17, 21, 12
_WRITTEN = "written"
_PRODUCERS = {"": -1, ", of an idempotent producer": 7}


def measure(mib: int, rounds: int) -> list[Found]:
    """Measure the recovery of a log without a producer id, and of an idempotent producer's log."""
    peer = "read and checksum it"
    found = []
    for kind, producer_id in _PRODUCERS.items():
        ours, theirs = _times(mib, rounds, producer_id)
        name = f"recovery of {mib} MiB after kill -9{kind}"
        found.append(at_most(MOST, name, peer, ratios(ours, theirs)))
    return found


def _times(mib: int, rounds: int, producer_id: int) -> tuple[list[float], list[float]]:
    """Return our times and the peer's in seconds, without the warm-up round; turns alternate."""
    ours, theirs = [], []
    with TemporaryDirectory() as name, _written_and_killed(Path(name), mib, producer_id) as log:
        size = log.stat().st_size
        for number in range(rounds + 1):
            if number % 2:
                theirs.append(_checksum_s(log))
            ours.append(_recovery_s(Path(name), size))
            if not number % 2:
                theirs.append(_checksum_s(log))
    return ours[1:], theirs[1:]


@contextmanager
def _written_and_killed(folder: Path, mib: int, producer_id: int) -> Iterator[Path]:
    command = [sys.executable, "-m", "bench.storage.recovery", str(folder), str(mib)]
    with subprocess.Popen(
        [*command, str(producer_id)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout
        said = writer.stdout.readline().strip()
        writer.send_signal(signal.SIGKILL)
    if said != _WRITTEN:
        raise LoadFailed(f"the writer said {said!r}")
    (log,) = folder.glob("*/*.log")
    drop([log])  # so that writing it does not go on meanwhile
    yield log


def _recovery_s(folder: Path, size_bytes: int) -> float:
    began = time.process_time()
    with opened(folder) as logs:
        log = open_log(logs).log
        took = time.process_time() - began
        if logs.was_clean or log.size_bytes != size_bytes or log.end_offset % RECORDS_IN_BATCH:
            raise LoadFailed(f"{log.size_bytes} of {size_bytes} bytes were recovered")
    return took


def _checksum_s(log: Path) -> float:
    """In pieces, each from the beginning of a batch."""
    began = time.process_time()
    descriptor, position, value = os.open(log, os.O_RDONLY), 0, google_crc32c.value
    try:
        while piece := os.pread(descriptor, _PIECE_BYTES, position):
            at = 0
            while at + _CRC_FROM <= len(piece):
                length = int.from_bytes(piece[at + _LENGTH_AT : at + _OVERHEAD_BYTES], "big")
                end = at + _OVERHEAD_BYTES + length
                if end > len(piece):
                    break
                stored = int.from_bytes(piece[at + _CRC_AT : at + _CRC_FROM], "big")
                if value(piece[at + _CRC_FROM : end]) != stored:
                    raise LoadFailed(f"a wrong checksum at byte {position + at}")
                at = end
            position += at
    finally:
        os.close(descriptor)
    took = time.process_time() - began
    if position != log.stat().st_size:
        raise LoadFailed(f"{position} bytes were read")
    return took


def _write(folder: Path, mib: int, producer_id: int) -> None:
    """Fill a log, report it on standard output, and wait to be killed."""
    with opened(folder) as logs:
        fill(open_log(logs), mib << 20, producer_id)
        sys.stdout.write(f"{_WRITTEN}\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    _write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

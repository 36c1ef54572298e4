"""Batches found by offset and by time in logs of three sizes: the size is not to matter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.storage.logs import RECORDS_IN_BATCH, STEP_MS, fill, open_log, opened
from bench.storage.table import Found, at_most, ratios
from harness.base.ids import Offset
from harness.reference_broker.state.log.log_store import Log

SIZES_MIB = (16, 256, 1024)
MOST = 1.5
SEARCHES = 1_000
_Search = Callable[[Log, int], object]


def measure(rounds: int) -> list[Found]:
    """Longer logs against the shortest, by offset and by time."""
    searches: dict[str, _Search] = {"offset": _by_offset, "time": _by_time}
    found = []
    with ExitStack() as stack:
        logs = {mib: _made(stack, mib) for mib in SIZES_MIB}
        for name, search in searches.items():
            took: dict[int, list[float]] = {mib: [] for mib in SIZES_MIB}
            for number in range(rounds + 1):
                for mib, log in logs.items():
                    took[mib].append(_took_s(log, search, number))
            first, *longer = SIZES_MIB
            found += [
                at_most(
                    MOST,
                    f"search by {name} in {mib} MiB",
                    f"in {first} MiB",
                    ratios(took[mib][1:], took[first][1:]),
                )
                for mib in longer
            ]
    return found


def _made(stack: ExitStack, mib: int) -> Log:
    folder = Path(stack.enter_context(TemporaryDirectory()))
    log = open_log(stack.enter_context(opened(folder)))
    fill(log, mib << 20)
    return log.log


def _took_s(log: Log, search: _Search, seed: int) -> float:
    draws = random.Random(seed)
    numbers = [draws.randrange(log.end_offset) for _ in range(SEARCHES)]
    began = time.process_time()
    for number in numbers:
        search(log, number)
    return time.process_time() - began


def _by_offset(log: Log, offset: int) -> None:
    found = log.batch_begin(Offset(offset))
    assert 0 <= offset - found < RECORDS_IN_BATCH


def _by_time(log: Log, offset: int) -> None:
    wanted = offset // RECORDS_IN_BATCH * STEP_MS
    found = next(iter(log.batches_reaching(wanted)))
    assert found.max_timestamp == wanted

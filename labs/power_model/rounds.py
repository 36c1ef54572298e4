"""One round: a workload, and many disks as a power loss at some time may leave them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from labs.power_model.lossy_files import ModelDisk
from labs.power_model.recorded_calls import Forgets, Recording
from labs.power_model.recovered import expect_recovered, write_out
from labs.power_model.workload import DiskWorkload

IN_MEMORY = Path("/dev/shm")
STEPS, LOSSES, DISKS = 60, 12, 4


@dataclass(slots=True)
class RoundCounts:
    """Of all rounds so far. ``gaps``: of logs, see :func:`expect_recovered`;
    ``broken``: those on which a promise is broken."""

    rounds: int = 0
    calls: int = 0
    losses: int = 0
    disks: int = 0
    acknowledged: int = 0
    gaps: int = 0
    broken: int = 0


def play(
    seed: int, counts: RoundCounts, *, journal: bool = True, forgets: Forgets = lambda _: False
) -> Iterator[str]:
    """Yield a text for each disk with a broken promise; the same seed gives the same disks."""
    random = Random(seed)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as place:
        root, after = Path(place, "disk"), Path(place, "after")
        root.mkdir()
        recording = Recording(root, forgets)
        workload = DiskWorkload(recording, random)
        workload.run(STEPS)
        counts.rounds += 1
        counts.calls += len(recording.calls)
        counts.acknowledged += sum(len(one.sent) for one in workload.histories.values())
        moments = sorted(random.sample(range(len(recording.calls) + 1), LOSSES))
        disk, taken = ModelDisk(journal=journal), 0
        for moment in moments:
            for call in recording.calls[taken:moment]:
                disk.take(call)
            taken = moment
            counts.losses += 1
            for number in range(DISKS):
                counts.disks += 1
                write_out(disk.left(random), after)
                try:
                    counts.gaps += expect_recovered(after, workload.histories, moment)
                except Exception as problem:
                    counts.broken += 1
                    yield f"seed {seed}, behind call {moment}, disk {number}: {problem!r}"

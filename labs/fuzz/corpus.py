"""The committed inputs: seeds, a zip a target, and every input that once made a target fail."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
SEEDS, FAILED = HERE / "corpus", HERE / "failed"
_DATE = (2026, 1, 1, 0, 0, 0)  # so that equal seeds make an equal file


def seed_inputs(target: str) -> list[tuple[str, bytes]]:
    """(name, bytes) of the target's committed seeds."""
    with zipfile.ZipFile(SEEDS / f"{target}.zip") as packed:
        return [(name, packed.read(name)) for name in packed.namelist()]


def failed_inputs(target: str) -> list[tuple[str, bytes]]:
    """(name, bytes) of what once was a crash, a hang or too much memory; none of it may be now."""
    return [(path.name, path.read_bytes()) for path in sorted((FAILED / target).glob("*"))]


def write_seeds(target: str, inputs: Iterable[tuple[str, bytes]]) -> int:
    """Pack the seeds, equal bytes once; how many there are."""
    names = {data: name for name, data in inputs}
    with zipfile.ZipFile(SEEDS / f"{target}.zip", "w") as packed:
        for data, name in sorted(names.items(), key=lambda item: item[1]):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, data)
    return len(names)


def unpack(target: str, folder: Path, at_most: int) -> int:
    """Write committed inputs as files, as libFuzzer wants them; how many there are.

    All that once failed, and seeds, drawn anew each time when there are more than ``at_most``.
    """
    seeds, failed = seed_inputs(target), failed_inputs(target)
    drawn = random.sample(seeds, min(at_most, len(seeds)))
    for name, data in (*drawn, *failed):
        (folder / name).write_bytes(data)
    return len(drawn) + len(failed)

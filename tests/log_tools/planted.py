"""Damage planted in a folder, and the findings then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.codec.data_framing.log_folder import open_log
from harness.codec.records.batch import BatchHeader, split_batches
from harness.log_tools.broker_check import BrokerCheck
from harness.log_tools.findings import Finding
from harness.log_tools.release_limits import ReleaseLimits
from harness.log_tools.start_verdict import StartVerdict
from tests.reference_broker.storage.made_folder import PARTITION, name_of


def findings(*paths: Path) -> list[Finding]:
    """All findings of folders and files; log directories among them are those of one broker."""
    return checked(*paths)[0]


def checked(*paths: Path, release: str | None = None) -> tuple[list[Finding], StartVerdict | None]:
    """The findings, for that release too if one is given, and its start."""
    opened = [open_log(path) for path in paths]
    check = BrokerCheck(opened, ReleaseLimits(release) if release else None)
    return [finding for found in opened for finding in check.findings(found)], check.verdict()


@dataclass
class Plant:
    """A folder for damage, and its state before."""

    folder: Path
    partition: str = PARTITION

    def file(self, name: str) -> Path:
        """The path of a file in the partition's folder, or else in the log directory."""
        inside = self.folder / self.partition / name
        return inside if inside.exists() else self.folder / name

    def flip(self, name: str, position: int, mask: int = 1) -> None:
        raw = bytearray(self.file(name).read_bytes())
        raw[position] ^= mask
        self.file(name).write_bytes(raw)

    def cut(self, name: str, size_bytes: int) -> None:
        raw = self.file(name).read_bytes()
        self.file(name).write_bytes(raw[:size_bytes])

    def add(self, name: str, data: bytes) -> None:
        self.file(name).write_bytes(self.file(name).read_bytes() + data)

    def write(self, name: str, data: bytes) -> None:
        self.file(name).write_bytes(data)

    def header(self, base_offset: int, place: int) -> tuple[BatchHeader, int]:
        return split_batches(self.file(name_of(base_offset)).read_bytes())[place]


Wanted = tuple[str, str, str, str]  # file, kind, part of the problem, part of the recovery


def one(plant: Plant, wanted: Wanted, position: int | None, offset: int | None) -> None:
    name, kind, problem, recovery = wanted
    (found,) = findings(plant.folder)
    assert (found.file, found.kind) == (plant.file(name), kind)
    assert problem in found.problem
    assert recovery in found.recovery
    assert (found.position, found.offset) == (position, offset)

"""Results, targets, and what is printed of them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

PACKAGES = ("kafka-python", "kio", "aiokafka")


@dataclass(frozen=True, slots=True)
class CodecResult:
    """One case against one peer; ``ratio``: how many times quicker we are."""

    work: str  # "decode", "encode", ...
    case: str
    peer: str
    ours_us: float
    peer_us: float

    @property
    def ratio(self) -> float:
        return self.peer_us / self.ours_us


@dataclass(frozen=True, slots=True)
class CodecTarget:
    """The ratios that one kind of work must reach against one peer."""

    work: str
    peer: str
    mean: float  # the geometric mean of the cases
    least: float  # each case; 0: any

    def reached(self, results: Iterable[CodecResult]) -> tuple[float, float, bool]:
        """(geometric mean, least, whether both are high enough)."""
        ratios = [r.ratio for r in results if (r.work, r.peer) == (self.work, self.peer)]
        mean, least = prod(ratios) ** (1 / len(ratios)), min(ratios)
        return mean, least, mean >= self.mean and least >= self.least


def machine() -> dict[str, str]:
    """The machine and the versions of the measurement."""
    found = {
        "machine": f"{_processor()}, {os.cpu_count()} processors, {platform.system()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    return found | {name: importlib.metadata.version(name) for name in PACKAGES}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def markdown(results: list[CodecResult], targets: list[CodecTarget]) -> str:
    """Machine, one table a kind of work, and what the targets say."""
    lines = [", ".join(f"{name}: {value}" for name, value in machine().items()), ""]
    for work in dict.fromkeys(result.work for result in results):
        lines += [*_table([r for r in results if r.work == work]), ""]
    if targets:
        lines += ["| target | geometric mean | least | |", "|---|---|---|---|"]
        lines += [_target_row(target, results) for target in targets]
    return "\n".join(lines).rstrip() + "\n"


def _table(results: list[CodecResult]) -> list[str]:
    work = results[0].work
    lines = [f"| {work} | peer | ours, µs | peer, µs | times quicker |", "|---|---|--:|--:|--:|"]
    return lines + [
        f"| {r.case} | {r.peer} | {r.ours_us:,.1f} | {r.peer_us:,.1f} | {r.ratio:.2f} |"
        for r in results
    ]


def _target_row(target: CodecTarget, results: list[CodecResult]) -> str:
    mean, least, enough = target.reached(results)
    each = f", each {target.least:.2f}" if target.least else ""
    wanted = f"{target.work} against {target.peer}: mean {target.mean:.2f}{each}"
    return f"| {wanted} | {mean:.2f} | {least:.2f} | {'PASS' if enough else 'FAIL'} |"


def as_json(results: list[CodecResult], targets: list[CodecTarget]) -> dict[str, Any]:
    """The same as plain values."""
    judged = []
    for target in targets:
        mean, least, enough = target.reached(results)
        judged.append({**asdict(target), "found_mean": mean, "found_least": least, "ok": enough})
    rows = [{**asdict(result), "ratio": result.ratio} for result in results]
    return {"machine": machine(), "results": rows, "targets": judged}

"""The number of test processes that fit on this machine for a target: ``--jobs fit``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.targets.by_document import ByDocument
from harness.targets.external import ExternalBroker
from harness.targets.kafka.target import KafkaTarget
from harness.targets.reference import ReferenceBroker
from harness.targets.reference_cluster import ReferenceCluster
from harness.targets.target import Target

FIT = "fit"
TESTS_EACH = 4
"""For fewer of them another process does not pay: it imports and collects for a second."""
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a machine that the processes of one kind of target may take.

    ``per_core``: the number for each core. ``memory_mib``: the memory of one process with its
    private brokers. ``at_most``: the greatest number.
    """

    per_core: int
    memory_mib: int
    at_most: int = 16


_SHARES: tuple[tuple[type[Target], Share], ...] = (
    (ExternalBroker, Share(per_core=1, memory_mib=0, at_most=1)),
    (ByDocument, Share(per_core=1, memory_mib=0, at_most=1)),
    (ReferenceBroker, Share(per_core=3, memory_mib=300)),
    (ReferenceCluster, Share(per_core=2, memory_mib=500)),
    (KafkaTarget, Share(per_core=2, memory_mib=1000)),
)
"""Shares by kind of target.

Tests wait more than they compute, so a core has room for several processes, unless each starts
brokers that are large. An external cluster belongs to others: unless its owner permits more, one
process sends requests to it.
"""
_OTHERS = Share(per_core=1, memory_mib=500)
"""For every other kind of target."""


def share_of(target: Target) -> Share:
    """Return the share of this kind of target."""
    return next((share for kind, share in _SHARES if isinstance(target, kind)), _OTHERS)


def fitting(share: Share, *, cores: float, memory_mib: int, tests: int) -> int:
    """So many, one at least; ``tests``: how many functions are chosen."""
    by_memory = memory_mib // share.memory_mib if share.memory_mib else share.at_most
    by_tests = tests // TESTS_EACH
    return max(1, min(int(share.per_core * cores), by_memory, share.at_most, by_tests))


def cores_here(quota: Path = _QUOTA) -> float:
    """Cores that this process may use: by its affinity, and by the quota of its container."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = float(allowed or 1)
    try:
        limit, period = quota.read_text("utf-8").split()
    except (OSError, ValueError):
        return cores
    return cores if limit == "max" else min(cores, int(limit) / int(period))


def jobs_for(target: Target, jobs: str, tests: int) -> str:
    """Return ``--jobs`` for a target, with ``fit`` replaced by a number; auto stays."""
    if jobs != FIT:
        return jobs
    free_mib = psutil.virtual_memory().available // _MIB
    share = share_of(target)
    return str(fitting(share, cores=cores_here(), memory_mib=free_mib, tests=tests))

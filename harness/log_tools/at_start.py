"""The action of a broker at its start, by the kind of a finding between files.

Tried on real brokers by tests/log_tools/test_kafka_starts.py; the releases in the texts are the
first with the behaviour in their source.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.log_tools.findings import Finding

_FAILS = "the log directory fails, and without another one the broker does not start"
_STOPS = "the broker does not start"
_AWAY = "KRaft since 3.7: the folder is renamed to -stray; from 3.0 to 3.6: to -delete"
_EMPTY = "and the partition begins empty"
AT_START: Mapping[str, str] = {
    "meta-missing": f"KRaft: {_STOPS}; ZooKeeper: the file is written again",
    "meta-key": (
        f"KRaft since 3.7: {_FAILS}; ZooKeeper since 3.7: it is written again; before: {_STOPS}"
        " (up to 2.3 no release reads cluster.id)"
    ),
    "meta-value": (
        f"KRaft since 3.7: {_FAILS}; else: {_STOPS} (no release before 3.7 has directory.id)"
    ),
    "meta-reserved": f"KRaft since 3.7: {_STOPS}; before, no release has directory.id",
    "meta-cluster": f"since 2.4: {_STOPS}; before, no release reads cluster.id",
    "meta-node": _STOPS,
    "meta-version": f"KRaft since 3.7: both are taken; else: {_STOPS}",
    "meta-directory": f"KRaft since 3.7: {_STOPS}; before, no release has directory.id",
    "folder-name": _STOPS,
    "partition-twice": _STOPS,
    "metadata-log-twice": f"KRaft: {_STOPS}",
    "metadata-record": f"KRaft: of a release that does not know the record, {_STOPS}",
    "future-twice": _STOPS,
    "future-beside-present": (
        "it cannot take the place of the present log: ZooKeeper since 1.1: the log directory fails;"
        f" else: {_STOPS}"
    ),
    "future-alone": (
        "since 1.1: an empty present log is made, and this log is cut to it; before: " + _STOPS
    ),
    "topic-id-missing": (
        f"KRaft since 3.7: the folder is renamed to -stray, {_EMPTY}; else: the file is written"
        " again"
    ),
    "topic-id-zero": f"since 2.8: {_FAILS}; before, no release reads the file",
    "topic-id-unlike": f"{_AWAY}, {_EMPTY}",
    "topic-id-of-another": "KRaft: the partition is not served, and others may not be with it",
    "topic-id-differs": (
        f"{_AWAY}, if the id is not that of the topic, {_EMPTY}; ZooKeeper: that partition is not"
        " served; before 2.8, no release reads the file"
    ),
    "directory-unlike": (
        "KRaft since 4.1: at some starts its partitions get no leader and are not served; from"
        " 3.7 to 4.0: the id is registered anew; before, no release has directory.id"
    ),
    "partition-stray": _AWAY,
    "partition-deleted": _AWAY,
    "partition-missing": "a leader begins empty, a follower copies its leader",
    "producer-snapshot-batch": (
        "it is taken behind a clean shutdown: the next batch of the producer is refused, or a batch"
        " is written twice"
    ),
}


def found(path: Path, kind: str, problem: str, offset: int | None = None) -> Finding:
    """Return a finding of ``kind``, with the action at the start."""
    return Finding(path, kind, problem, AT_START[kind], None, offset)

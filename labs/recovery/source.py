"""Logs with known content that a real Kafka wrote, each as it was when the broker was killed, and
as it is behind an orderly end."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.client.broker import BrokerUnderTest
from harness.client.new_topic import make_topic
from harness.client.requests import Topic
from harness.codec.data_framing import read_leader_epoch_checkpoint, read_offset_checkpoint
from harness.codec.data_framing.log_folder import LEADER_EPOCHS
from harness.targets.info import probe
from harness.targets.kafka.target import KafkaTarget
from harness.targets.target import Target
from labs.recovery.log_copy import CopyNotes, LogCopy
from labs.recovery.writer import CODECS, LogWriter

KILLED, STOPPED = "killed", "stopped"
WRITES, WRITES_OLD = "4.4.0", "0.10.2.2"
SEGMENT_BYTES, INDEX_INTERVAL_BYTES, INDEX_BYTES = 2_500, 200, 4096
HOUR_MS = 3_600_000
LOG_SETTINGS = {
    "log.retention.ms": "-1",
    "log.index.interval.bytes": str(INDEX_INTERVAL_BYTES),
    "log.index.size.max.bytes": str(INDEX_BYTES),
}
"""Settings of the writing and the recovering broker: rebuilt indexes depend on them."""
SETTINGS = LOG_SETTINGS | {
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
CHECKPOINTS = {
    "recovery_point": "recovery-point-offset-checkpoint",
    "log_start": "log-start-offset-checkpoint",
    "high_watermark": "replication-offset-checkpoint",
}
Phase = Callable[[LogWriter], None]


@dataclass(frozen=True, slots=True)
class LogSource:
    """``name``: what is in it and how its broker ended; ``end_offset``: the next to be written;
    ``time_ms``: its batches are a second apart from there on."""

    name: str
    folder: Path
    notes: CopyNotes
    end_offset: int
    last_epoch: int
    time_ms: int


# -- what is written: a phase for each leader epoch ----------------------------------------------


def _plain(writer: LogWriter) -> None:
    writer.batches(CODECS)
    writer.batches(("none", "none"))


def _producers(writer: LogWriter) -> None:
    writer.batches(("none", "lz4"), 2)
    writer.idempotent()
    writer.transaction("one", end=True)
    writer.transaction("other", end=False)
    writer.idempotent()


def _ends_aborted(writer: LogWriter) -> None:
    writer.idempotent(3)
    writer.transaction("other", end=False, batches=3)
    writer.transaction("one", end=True)
    writer.transaction("other", end=False)


def _stays_open(writer: LogWriter) -> None:
    writer.transaction("one", end=False)
    writer.idempotent(1)
    writer.transaction("open", end=None, batches=3)


def _messages(magic: int) -> Phase:
    def phase(writer: LogWriter) -> None:
        for _ in range(3):
            writer.messages(magic)

    return phase


SCRIPTS: Mapping[str, tuple[Phase, ...]] = {
    "plain": (_plain, _plain, _plain),
    "aborted": (_producers, _producers, _ends_aborted),
    "open": (_producers, _plain, _stays_open),
}
OLD_SCRIPTS: Mapping[str, tuple[Phase, ...]] = {
    "magic 1": (_messages(1), _messages(1)),
    "magic 0": (_messages(0), _messages(0)),
}
"""Written by 0.10.2.2. Later brokers still read and serve them, 4.4.0 too; it only writes none."""


def write_sources(folder: Path, seed: int, *, old: bool = False) -> list[LogSource]:
    """All of them, copied into ``folder``. Raises TargetError, NotWritten."""
    release, scripts = (WRITES_OLD, OLD_SCRIPTS) if old else (WRITES, SCRIPTS)
    settings = SETTINGS | ({"log.segment.bytes": str(SEGMENT_BYTES)} if old else {})
    folder.mkdir(parents=True, exist_ok=True)
    with KafkaTarget(release, settings=settings, log_dir=folder / "logs") as target:
        time_ms = int(time.time() * 1000) - HOUR_MS
        _write(target, scripts, seed, time_ms)
        node = target.nodes[0]
        target.kill_node(node)
        killed = _copies(target, folder, list(scripts), KILLED, time_ms)
        target.restart_node(node)
        target.stop_node(node)
        return killed + _copies(target, folder, list(scripts), STOPPED, time_ms)


def _write(
    target: Target, scripts: Mapping[str, tuple[Phase, ...]], seed: int, time_ms: int
) -> None:
    phases = max(map(len, scripts.values()))
    writers: dict[str, LogWriter] = {}
    for number in range(phases):
        with client(target) as broker:
            for name, script in scripts.items():
                if name not in writers:
                    topic = _topic(broker, name)
                    writers[name] = LogWriter(broker, topic, seed, time_ms)
                writers[name].broker = broker
                script[number](writers[name])
        if number < phases - 1:
            target.restart_node(target.nodes[0])


def _topic(broker: BrokerUnderTest, name: str) -> Topic:
    configs = {"internal.segment.bytes": str(SEGMENT_BYTES)}
    if name in OLD_SCRIPTS:
        configs = {"message.format.version": "0.9.0.1" if name == "magic 0" else "0.10.2"}
    topic = Topic(topic_name(name))
    make_topic(broker, topic.name, 1, configs)
    broker.await_served(topic)
    return topic


def topic_name(source: str) -> str:
    return f"source-{source.replace(' ', '-')}"


@contextmanager
def client(target: Target) -> Iterator[BrokerUnderTest]:
    """To its one broker; what is made through it stays."""
    info = probe(target)
    broker = BrokerUnderTest(
        info.addresses,
        info.api_versions,
        time_scale=info.time_scale,
        name_prefix=info.name_prefix,
    )
    try:
        yield broker
    finally:
        broker.close()


def _copies(
    target: Target, folder: Path, names: list[str], state: str, time_ms: int
) -> list[LogSource]:
    (directory,) = target.log_directories(target.nodes[0])
    found = []
    for name in names:
        to = folder / f"{topic_name(name)}-{state}"
        shutil.copytree(directory / f"{topic_name(name)}-0", to)
        notes = _notes(directory, topic_name(name))
        copy, epochs = LogCopy(to, notes), to / LEADER_EPOCHS
        entries = read_leader_epoch_checkpoint(epochs.read_bytes()) if epochs.exists() else []
        last_epoch = max((entry.epoch for entry in entries), default=-1)
        found.append(LogSource(f"{name}, {state}", to, notes, copy.end_offset, last_epoch, time_ms))
    return found


def _notes(directory: Path, topic: str) -> CopyNotes:
    offsets = {}
    for name, file in CHECKPOINTS.items():
        path = directory / file
        entries = read_offset_checkpoint(path.read_bytes()) if path.exists() else []
        offsets[name] = next((each.offset for each in entries if each.topic == topic), None)
    return CopyNotes(**offsets)

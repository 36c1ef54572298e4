"""A broker that is started again and again, each time on a folder full of damaged copies."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from harness.client.new_topic import make_topic
from harness.client.requests import Topic
from harness.codec.data_framing import (
    CheckpointedOffset,
    offset_checkpoint_bytes,
)
from harness.codec.data_framing.log_folder import CLEAN_SHUTDOWN
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.spec import parse_target
from harness.targets.target import KILL_NODE, LOG_DIRECTORY, LOGS, RESTART_NODE, STOP_NODE
from labs.recovery.case import DamageCase, rounds
from labs.recovery.log_copy import CopyNotes
from labs.recovery.observing import Observer, Outcome
from labs.recovery.source import CHECKPOINTS, LOG_SETTINGS, client

MANY, ONE = "damaged", "alone"
MOST_PARTITIONS, MOST_RESTARTS = 250, 20
REFUSED = "does not start"
_ERROR = re.compile(r"Exception|Error|ERROR|FATAL")
_SHOWN = 300


class RecoverySide:
    """``outcomes`` may be asked several times; use as a context manager.

    ``last_epoch``: of all logs; the topics' leader epochs have to be above it, as those of the
    brokers that wrote the logs would be. ``partitions``: the most that are recovered together.
    """

    def __init__(self, spec: str, logs: Path, last_epoch: int, partitions: int) -> None:
        words = [f"set.{name}={value}" for name, value in LOG_SETTINGS.items()]
        self.spec, self._last_epoch, self._partitions = spec, last_epoch, partitions
        self._target = parse_target(",".join([spec, *words]), log_dir=logs)
        self._templates = logs / "templates"
        self._topics: dict[str, Topic] = {}
        self.starts = 0

    def __enter__(self) -> Self:
        """Raises TargetError, MissingCapability."""
        for capability in (STOP_NODE, KILL_NODE, RESTART_NODE, LOG_DIRECTORY, LOGS):
            self._target.require(capability)
        self._target.start()
        try:
            self._prepare(ONE, 1)
            self._prepare(MANY, self._partitions)
        except BaseException:
            self._target.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._target.stop()
        shutil.rmtree(self._templates, ignore_errors=True)

    @property
    def _node(self) -> int:
        return self._target.nodes[0]

    @property
    def _directory(self) -> Path:
        return self._target.log_directories(self._node)[0]

    def _prepare(self, name: str, partitions: int) -> None:
        """A folder with an empty topic of that name, kept as it is behind an orderly end."""
        if not self._target.node_is_alive(self._node):
            self._target.restart_node(self._node)
        with client(self._target) as broker:
            make_topic(broker, name, partitions, {})
        for _ in range(MOST_RESTARTS):
            with client(self._target) as broker:
                (topic,) = broker.last_seen(
                    lambda: broker.metadata([name]).topics,
                    lambda found: len(found[0].partitions) == partitions,
                )
            if min(each.leader_epoch for each in topic.partitions) > self._last_epoch:
                break
            self._target.restart_node(self._node)
        else:
            raise TargetError(f"{self.spec}: {MOST_RESTARTS} starts do not raise leader epochs")
        self._topics[name] = Topic(name, topic.topic_id)
        self._target.stop_node(self._node)
        kept = shutil.copytree(self._directory, self._templates / name)
        for folder in kept.glob(f"{name}-*"):
            shutil.rmtree(folder)

    # -- rounds --------------------------------------------------------------------------------

    def outcomes(self, cases: Sequence[DamageCase]) -> Iterator[tuple[DamageCase, Outcome]]:
        """Of each case, in groups that are started together."""
        for group in rounds(cases, self._partitions):
            yield from self._of_group(group)

    def _of_group(self, cases: Sequence[DamageCase]) -> Iterator[tuple[DamageCase, Outcome]]:
        """A group that keeps the broker from starting is parted until it is known which do."""
        topic = self._topics[MANY if len(cases) > 1 else ONE]
        self._lay_out(topic, cases)
        self.starts += 1
        try:
            self._target.restart_node(self._node)
        except TargetStartError as problem:
            self._target.kill_node(self._node)
            if len(cases) == 1:
                yield cases[0], {"start": REFUSED, "why": _reason(str(problem))}
                return
            for part in self._parts(cases, topic):
                yield from self._of_group(part)
            return
        with client(self._target) as broker:
            asked = {place: case.question for place, case in enumerate(cases)}
            seen = Observer(broker, topic, asked).observe()
        self._target.kill_node(self._node)
        for place, case in enumerate(cases):
            yield case, {"start": "starts", **seen[place]}

    def _parts(self, cases: Sequence[DamageCase], topic: Topic) -> list[Sequence[DamageCase]]:
        """Those that the broker's log blames, each for itself, and the others; else two halves."""
        blamed = re.findall(rf"while loading logs? .*{topic.name}-(\d+)\b",
                            self._target.logs(self._node))  # fmt: skip
        places = {int(place) for place in blamed} & set(range(len(cases)))
        if 0 < len(places) < len(cases):
            others = [case for place, case in enumerate(cases) if place not in places]
            return [*([cases[place]] for place in sorted(places)), others]
        middle = len(cases) // 2
        return [cases[:middle], cases[middle:]]

    def _lay_out(self, topic: Topic, cases: Sequence[DamageCase]) -> None:
        """The broker's folder as it was formatted, with a damaged copy for each partition."""
        shutil.rmtree(self._directory)
        shutil.copytree(self._templates / topic.name, self._directory)
        noted: list[CopyNotes] = []
        own: dict[str, bytes | None] = {}
        for place, case in enumerate(cases):
            copy, _ = case.make(self._directory / f"{topic.name}-{place}", topic.id)
            noted.append(copy.notes)
            own.update(copy.directory)
        for name, file in CHECKPOINTS.items():
            entries = [
                CheckpointedOffset(topic.name, place, getattr(notes, name))
                for place, notes in enumerate(noted)
                if getattr(notes, name) is not None
            ]
            (self._directory / file).write_bytes(offset_checkpoint_bytes(entries))
        if not cases[0].clean:
            (self._directory / CLEAN_SHUTDOWN).unlink(missing_ok=True)
        for file, data in own.items():
            (self._directory / file).unlink(missing_ok=True)
            if data is not None:
                (self._directory / file).write_bytes(data)


def _reason(told: str) -> str:
    """Return the reason why a broker does not start: the last line of its output about an error."""
    lines = [line.strip() for line in told.splitlines() if _ERROR.search(line)]
    return lines[-1][:_SHOWN] if lines else told[:_SHOWN]

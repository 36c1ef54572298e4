"""Target strings of real Kafka: ``kafka:RELEASE[,mode=zk|kraft][,nodes=N][,heap=256m]...``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.targets.errors import TargetError
from harness.targets.kafka.target import KafkaTarget
from harness.targets.kind import Making, TargetKind, choose, refuse_words, settings_among
from harness.targets.options import split_options
from harness.targets.releases import (
    LATEST,
    is_range,
    numbers_of,
    release_named,
    releases_between,
)
from harness.targets.target import Target

ZK, KRAFT = "zk", "kraft"
MODES = {ZK: "with a ZooKeeper", KRAFT: "with a controller of Kafka's own"}
KRAFT_SINCE = (2, 8)
KRAFT_BY_DEFAULT_SINCE = (3, 3)
NO_ZK_SINCE = (4, 0)
DEFAULT_HEAP = "256m"
NODES_LIMIT = 9
_HEAP = re.compile(r"[1-9]\d{0,5}[kmgKMG]")
_OPTIONS = {
    "mode": "zk or kraft; default: kraft from 3.3 on, zk before",
    "nodes": f"how many brokers, 1 to {NODES_LIMIT}; default 1",
    "heap": f"of each Java process, such as 512m; default {DEFAULT_HEAP}",
    "set.NAME": "a setting of every broker, by Kafka's name",
}


@dataclass(frozen=True)
class KafkaChoice:
    """A target string that was read; ``mode`` is never left open here."""

    release: str
    mode: str
    nodes: int = 1
    heap: str = DEFAULT_HEAP
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def spec(self) -> str:
        """The shortest string that means this."""
        words = [f"kafka:{self.release}"]
        if self.mode != default_mode(self.release):
            words.append(f"mode={self.mode}")
        if self.nodes != 1:
            words.append(f"nodes={self.nodes}")
        if self.heap != DEFAULT_HEAP:
            words.append(f"heap={self.heap}")
        words += [f"set.{name}={value}" for name, value in self.settings.items()]
        return ",".join(words)


def default_mode(release: str) -> str:
    """The mode in which most people run this release."""
    return KRAFT if numbers_of(release) >= KRAFT_BY_DEFAULT_SINCE else ZK


def read_choices(rest: str | None) -> list[KafkaChoice]:
    """All that is meant: one, or one for each release of a range. Raises TargetError."""
    known = [name.replace("NAME", "") for name in _OPTIONS]
    words, options = split_options(rest or "", known)
    word = words[0] if words else ""
    if not word:
        raise TargetError(f"a release is missing: one that is pinned, {LATEST}, or a range")
    refuse_words(words[1:], f"kafka:{word}")
    releases = releases_between(word) if is_range(word) else [release_named(word)]
    return [_choice(release, options) for release in releases]


def _choice(release: str, options: Mapping[str, str]) -> KafkaChoice:
    return KafkaChoice(
        release,
        _mode(release, options.get("mode")),
        _nodes(options.get("nodes", "1")),
        _heap(options.get("heap", DEFAULT_HEAP)),
        settings_among(options),
    )


def _mode(release: str, mode: str | None) -> str:
    if mode is None:
        return default_mode(release)
    choose("mode", mode, MODES)
    if mode == KRAFT and numbers_of(release) < KRAFT_SINCE:
        raise TargetError(f"Kafka {release} has no mode=kraft, which came with 2.8: use mode=zk")
    if mode == ZK and numbers_of(release) >= NO_ZK_SINCE:
        raise TargetError(f"Kafka {release} has no mode=zk, which ended with 3.9: use mode=kraft")
    return mode


def _nodes(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= NODES_LIMIT:
        raise TargetError(f"nodes={text}: must be a number from 1 to {NODES_LIMIT}")
    return int(text)


def _heap(text: str) -> str:
    if not _HEAP.fullmatch(text):
        raise TargetError(f"heap={text}: must be a size as Java takes it, such as {DEFAULT_HEAP}")
    return text


def _make(rest: str | None, making: Making) -> Target:
    choices = read_choices(rest)
    if len(choices) > 1:
        raise TargetError(
            f"the range means {len(choices)} targets, and here is room for one: name a release, "
            f"such as {choices[-1].spec}"
        )
    (choice,) = choices
    if choice.nodes != 1:
        raise TargetError("only a single node can be started yet")
    return KafkaTarget(
        choice.release,
        mode=choice.mode,
        heap=choice.heap,
        settings=choice.settings,
        log_dir=making.log_dir,
        progress=making.progress,
    )


KIND = TargetKind(
    name="kafka",
    form="kafka:RELEASE[,mode=zk|kraft][,nodes=N][,heap=256m][,set.NAME=VALUE...]",
    example="kafka:4.4.0",
    meaning="a released Apache Kafka, downloaded once and run as local processes; RELEASE may be "
    "latest, or for a run a range, A..B, A.. or ..B",
    capabilities=KafkaTarget.capabilities,
    make=_make,
    options=_OPTIONS,
    expand=lambda rest: [choice.spec for choice in read_choices(rest)],
)

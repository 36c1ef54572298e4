"""A change under load, and its verdict."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.histories.durability import SurvivalVerdict, judge
from harness.histories.history import ClientAction, OperationOutcome
from labs.crash_loops.cases import LEADER, PRODUCERS
from labs.crash_loops.load import PARTITIONS, Load, under_load
from labs.crash_loops.notes import CrashNotes
from labs.crash_loops.reading import final_read
from labs.crash_loops.stage import cluster_of
from labs.rolling_changes.changes import ClusterChange
from labs.rolling_changes.commits import CommitEvent, CommitStep, OffsetCommitter, broken_commits
from labs.rolling_changes.shown import Shown, shown_by

MORE = 5
"""Acknowledged records of each producer, and commits, that are awaited after each node."""
WITHIN_MS = 120_000
SAFE = {name: acks for name, acks in PRODUCERS.items() if name != LEADER}
"""The producers that may lose no record: with acks=1 each new leader may lack some."""


@dataclass
class Played:
    """``shown``: at the beginning and after each stage; ``restarts``: nodes that came back.

    ``errors``: what the producers without retries, and the committer, got in each stage.
    """

    change: str
    shown: list[Shown] = field(default_factory=list)
    errors: dict[str, Counter[str]] = field(default_factory=dict)
    restarts: int = 0
    notes: CrashNotes = field(default_factory=CrashNotes)
    commits: list[CommitEvent] = field(default_factory=list)
    verdict: SurvivalVerdict | None = None
    broken: tuple[str, ...] = ()


def play(change: ClusterChange, seed: str) -> Played:
    """Start the target, lead it through all stages under load, and judge the histories.

    Raises TargetError, ResponseTimeout: the change or the load does not go on.
    """
    played = Played(change.name)
    with ExitStack() as opened:
        target = opened.enter_context(change.target)
        cluster = opened.enter_context(cluster_of(target))
        topic = cluster.create_topic(_assignment(cluster))
        committer = OffsetCommitter(cluster.at_any.unique_group(), topic, cluster.own_clients())
        played.commits = committer.events
        with under_load(cluster, topic, played.notes, seed, SAFE) as load, _working(committer):
            progress = LoadProgress(cluster, topic, load, committer, played)
            progress.go_on()
            played.shown.append(shown_by(target, change.begins))
            for stage in change.stages:
                progress.enter(stage.name)
                stage.apply(progress.between)
                progress.go_on()
                played.shown.append(shown_by(target, stage.name))
        final_read(cluster, topic, PARTITIONS, played.notes)
        cluster.await_that(committer.fetch_last, bool, "the committed offset is returned")
    played.verdict = judge(played.notes.history, {})
    played.broken = (*played.verdict.broken, *broken_commits(played.commits))
    return played


class LoadProgress:
    """Waits between two changes until all replicas are in sync and all clients go on."""

    def __init__(
        self, cluster: Cluster, topic: Topic, load: Load, committer: OffsetCommitter, played: Played
    ) -> None:
        self._cluster, self._topic, self._load = cluster, topic, load
        self._committer, self._played = committer, played
        self._stage = "the beginning"
        self._seen = self._committed = 0

    def enter(self, stage: str) -> None:
        """Note the beginning of a stage."""
        self._played.notes.fault(f"until {stage}")
        self._stage = stage

    def between(self, node: int) -> None:
        """Go on when this node is back."""
        self._played.restarts += 1
        self._played.notes.fault(f"{node} is back")
        self._cluster.await_brokers(self._cluster.nodes)
        for partition in range(PARTITIONS):
            replicas = self._cluster.replicas(self._topic, partition)
            self._cluster.await_leader(self._topic, partition)
            self._cluster.await_isr(self._topic, replicas, partition)
        self.go_on()

    def go_on(self) -> None:
        """Await more records and commits; count the errors since the last time."""
        self._load.await_more(MORE)
        wanted = self._committer.acknowledged + MORE
        self._cluster.await_that(
            lambda: self._committer.acknowledged,
            lambda seen: seen >= wanted,
            f"{MORE} more commits are acknowledged",
            WITHIN_MS,
        )
        self._count_errors()

    def _count_errors(self) -> None:
        counted = self._played.errors.setdefault(self._stage, Counter())
        history, commits = list(self._played.notes.history), list(self._committer.events)
        for one in history[self._seen :]:
            refused = one.outcome in (OperationOutcome.INFO, OperationOutcome.FAIL)
            if one.action is ClientAction.SEND and refused:
                counted[f"Produce {one.detail}"] += 1
        for event in commits[self._committed :]:
            if event.step is CommitStep.REFUSED:
                counted[f"OffsetCommit {event.detail}"] += 1
        self._seen, self._committed = len(history), len(commits)


@contextmanager
def _working(committer: OffsetCommitter) -> Iterator[None]:
    thread = threading.Thread(target=committer.run)
    thread.start()
    try:
        yield
    finally:
        committer.stopped.set()
        thread.join()


def _assignment(cluster: Cluster) -> list[list[int]]:
    """Each node leads some partitions."""
    nodes = cluster.nodes
    return [[nodes[(first + k) % len(nodes)] for k in range(3)] for first in range(PARTITIONS)]

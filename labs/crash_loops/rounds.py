"""One round: a new topic under load, a crash at a drawn moment, and its verdict."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from harness.client.requests import Topic
from harness.histories.durability import SurvivalVerdict, judge
from harness.histories.history import ClientOperation
from labs.crash_loops.cases import Back, CrashFault, Victims
from labs.crash_loops.load import PARTITIONS, under_load
from labs.crash_loops.notes import CrashNotes
from labs.crash_loops.reading import NotReadable, final_read
from labs.crash_loops.stage import TOPIC, CrashStage

BEFORE, BEHIND = 5, 5  # acknowledged records of each producer before the crash, and behind it
LONGEST_S = 1.5
REPLICAS = 3


@dataclass(slots=True)
class Round:
    """``kills``: number of killed processes. ``back_s``: time until all producers go on.

    ``why``: the reason why the log could not be read to its end.
    """

    seed: str
    topic: Topic
    notes: CrashNotes = field(default_factory=CrashNotes)
    kills: int = 0
    back_s: float = 0.0
    verdict: SurvivalVerdict | None = None
    why: str = ""

    @property
    def history(self) -> list[ClientOperation]:
        return self.notes.history

    @property
    def broken(self) -> tuple[str, ...]:
        """The promises that do not hold, in words."""
        unread = (f"the log cannot be read: {self.why}",) if self.why else ()
        return (*unread, *(self.verdict.broken if self.verdict else ()))


def play(stage: CrashStage, seed: str) -> Round:
    """The crash; the log is read at once where later crashes may take more of it."""
    rng = random.Random(seed)
    made = Round(seed, _topic(stage))
    cluster, case = stage.cluster, stage.case
    victims = list(cluster.nodes)
    if case.victims is Victims.ONE:
        victims = [rng.choice(victims)]
    with under_load(cluster, made.topic, made.notes, seed) as load:
        load.await_more(BEFORE)
        time.sleep(rng.uniform(0, LONGEST_S))  # the moment of the crash
        made.notes.fault(f"{case.fault} {victims}")
        struck_s = time.monotonic()
        stage.strike(victims)
        made.kills = len(victims)
        if case.back is Back.FENCED:
            _await_fenced(stage, made.topic, victims[0])
        rng.shuffle(victims)
        stage.bring_back(victims)
        load.await_more(BEHIND)
        made.back_s = time.monotonic() - struck_s
    _await_whole(stage, made.topic)
    if case.fault is CrashFault.POWER:
        read_back(stage, made)
    return made


def read_back(stage: CrashStage, made: Round) -> None:
    """Read the log and judge the history."""
    try:
        final_read(stage.cluster, made.topic, PARTITIONS, made.notes)
    except NotReadable as problem:
        made.why = str(problem)
    made.verdict = judge(made.history, stage.case.may_lose)


def _topic(stage: CrashStage) -> Topic:
    """Create a topic in which each node leads some partitions."""
    nodes = stage.cluster.nodes
    assignment = [
        [nodes[(first + k) % len(nodes)] for k in range(min(REPLICAS, len(nodes)))]
        for first in range(PARTITIONS)
    ]
    return stage.cluster.create_topic(assignment, TOPIC)


def _await_fenced(stage: CrashStage, topic: Topic, node: int) -> None:
    """Wait until no broker lists the node and no ISR has it."""
    cluster = stage.cluster
    cluster.await_brokers(cluster.up)
    cluster.await_that(
        lambda: [cluster.isr(topic, partition) for partition in range(PARTITIONS)],
        lambda seen: all(node not in isr for isr in seen),
        f"no ISR has {node}",
    )


def _await_whole(stage: CrashStage, topic: Topic) -> None:
    for partition in range(PARTITIONS):
        stage.cluster.await_leader(topic, partition)
        stage.cluster.await_isr(topic, stage.cluster.replicas(topic, partition), partition)

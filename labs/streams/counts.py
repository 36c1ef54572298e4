"""One run: records come, the application is killed some times, and its output must be exact."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.histories.history import ClientAction
from harness.targets.target import Target
from labs.hang_limit import HANGS_AFTER_S
from labs.streams.application import StreamsApplication
from labs.transaction_histories.committed import final_read
from labs.transaction_histories.notes import TransactionNotes

PARTITIONS, KEYS = 3, 7
MOST_OF_A_BATCH = 4
FEWEST, MOST = 20, 60
"""New records of the output before a kill."""
PAUSE_S = 0.05


class StreamsHang(Exception):
    """The application does not go on; the text has the end of its log."""


@dataclass
class CountsRun:
    """``written``: input records by key. ``problems``: of the output, empty if it is exact."""

    seed: int
    kills: int
    written: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        verdict = "exact" if not self.problems else f"WRONG: {'; '.join(self.problems)}"
        return (
            f"seed {self.seed}: {verdict}; {self.written.total()} records of {len(self.written)} "
            f"keys, {self.kills} kills, {self.seconds:.0f} s"
        )


def wrong_counts(values: Iterable[str], written: Counter[str]) -> list[str]:
    """Return what is wrong with the output, key by key: it has to be 1, 2, 3 up to the last one.

    ``values``: "KEY COUNT" in the order of each partition; a key has one partition.
    """
    found: defaultdict[str, list[int]] = defaultdict(list)
    for value in values:
        key, count = value.split(" ")
        found[key].append(int(count))
    problems = []
    for key in sorted({*found, *written}):
        wanted = list(range(1, written[key] + 1))
        if found[key] == wanted:
            continue
        twice = [count for count, times in Counter(found[key]).items() if times > 1]
        missing = sorted(set(wanted) - set(found[key]))
        problems.append(
            f"{key}: {len(found[key])} of {len(wanted)}, twice {twice[:9]}, "
            f"missing {missing[:9]}, in order {found[key] == sorted(found[key])}"
        )
    return problems


class _Feed:
    """Writes the input, a small batch at a time."""

    def __init__(self, cluster: Cluster, topic: Topic, run: CountsRun) -> None:
        self._cluster, self._topic, self._run = cluster, topic, run
        self.dice = random.Random(f"{run.seed} streams")

    def write(self) -> None:
        """Raises AssertionError: the broker refuses a batch."""
        key = f"k{self.dice.randrange(KEYS)}"
        partition = int(key[1:]) % PARTITIONS
        count = self.dice.randint(1, MOST_OF_A_BATCH)
        now_ms = int(time.time() * 1000)
        records = [Record(b"x", key.encode()) for _ in range(count)]
        batch = encode_batch(RecordBatch(records, base_timestamp=now_ms))
        client = self._cluster.leader_client(self._topic, partition)
        answer = client.produce(self._topic, batch, partition=partition)
        assert answer.error_code == ErrorCode.NONE, ErrorCode.describe(answer.error_code)
        self._run.written[key] += count


def play(target: Target, cluster: Cluster, seed: int, kills: int, folder: Path) -> CountsRun:
    """Return the run. Raises StreamsHang, NotReadable, and what a start raises."""
    run = CountsRun(seed, kills)
    began_s = time.monotonic()
    entry, result = (_topic(cluster) for _ in range(2))
    feed = _Feed(cluster, entry, run)
    name = f"counts-{seed}-{time.monotonic_ns()}"
    bootstrap = ",".join(map(str, target.addresses))
    application = StreamsApplication(bootstrap, name, (entry.name, result.name), folder)
    for _ in range(kills):
        with _running(application):
            _await_growth(cluster, result, application, feed)
    with _running(application):
        _await_all(cluster, result, application, run)
    run.problems = wrong_counts(_committed(cluster, result), run.written)
    run.seconds = time.monotonic() - began_s
    return run


@contextmanager
def _running(application: StreamsApplication) -> Iterator[None]:
    application.start()
    try:
        yield
    finally:
        application.kill()


def _topic(cluster: Cluster) -> Topic:
    nodes = cluster.nodes
    first = [nodes[at % len(nodes)] for at in range(PARTITIONS)]
    return cluster.create_topic([[one, *(n for n in nodes if n != one)][:3] for one in first])


def _await_growth(
    cluster: Cluster, result: Topic, application: StreamsApplication, feed: _Feed
) -> None:
    """Write until the output has grown, so that the kill strikes in the middle."""
    wanted = _size(cluster, result) + feed.dice.randint(FEWEST, MOST)
    deadline = time.monotonic() + HANGS_AFTER_S
    while _size(cluster, result) < wanted:
        feed.write()
        _go_on(application, deadline)


def _await_all(
    cluster: Cluster, result: Topic, application: StreamsApplication, run: CountsRun
) -> None:
    """Wait until as many counts are committed as there are records, or more."""
    deadline = time.monotonic() + HANGS_AFTER_S
    while len(_committed(cluster, result)) < run.written.total():
        _go_on(application, deadline)


def _go_on(application: StreamsApplication, deadline: float) -> None:
    if application.has_ended or time.monotonic() > deadline:
        end = application.log.read_text("utf-8", "replace")[-3000:]
        raise StreamsHang(f"the application does not go on; the end of its log:\n{end}")
    time.sleep(PAUSE_S)


def _size(cluster: Cluster, topic: Topic) -> int:
    try:
        return sum(
            cluster.leader_client(topic, at).end_offset(topic, at) for at in range(PARTITIONS)
        )
    except BrokerMisbehaved:
        return 0


def _committed(cluster: Cluster, topic: Topic) -> list[str]:
    """The values of the output that a read_committed consumer gets when no transaction is open."""
    notes = TransactionNotes()
    final_read(lambda at: cluster.leader_client(topic, at), topic, PARTITIONS, notes)
    return [
        str(one.value)
        for one in notes.history
        if one.action is ClientAction.FINAL_READ and one.value
    ]

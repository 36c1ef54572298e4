"""LDIR: whole answers about logs are the same when their replicas were moved."""

from __future__ import annotations

from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.durability.support.log_dirs import TWO, described, move, places_of
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.log_answers import epoch_ends, fetched, offsets_by_time, producers
from suites.protocol.support.rich_logs import (
    EMPTY,
    IDEMPOTENT,
    MANY,
    grow,
    partitions_of,
    rich_logs,
    times_of,
)
from suites.protocol.support.whole_answers import WholeAnswers, expect_same
from suites.protocol.support.writers import Writer

MOVED_WITHIN_MS = 60_000
WHOLE_LOG = " with isolation "  # Fetch returns one segment, and a moved log has others


class MovedLogs:
    """Logs on a broker with two log directories, and one producer that goes on writing."""

    def __init__(self, kept: PersistentBroker) -> None:
        self.kept, self.client = kept, kept.client
        self.logs = rich_logs(self.client)
        self.topic = list(self.logs)[-1]
        self.writer = Writer(self.client, self.topic, IDEMPOTENT)
        self.writer.append(2)

    def restart(self) -> None:
        """Stop the broker and start it; a new leader epoch may begin."""
        self.kept.stop()
        self.kept.start()
        for topic, partition in partitions_of(self.logs):
            await_back(self.client, topic, partition)

    def append(self) -> None:
        """Append to each log, in the present leader epoch."""
        grow(self.client, self.logs)
        self.writer.append(2)

    def ask(self) -> WholeAnswers:
        """All answers about the logs that neither their segments nor an empty log decide."""
        filled = {topic: count for topic, count in self.logs.items() if topic != self.topic}
        by_offset = fetched(self.client, self.logs)
        epochs = {one.partition_leader_epoch for one in batches_of(self.client, self.topic, MANY)}
        return (
            {path: found for path, found in by_offset.items() if WHOLE_LOG not in path}
            | offsets_by_time(self.client, self.logs, times_of(self.client, self.logs))
            | producers(self.client, self.logs)
            | epoch_ends(self.client, {**filled, self.topic: EMPTY}, epochs)
        )

    def places(self) -> dict[tuple[Topic, int], list[tuple[str, bool]]]:
        """The directories of each partition, and whether the replica there is a future one."""
        found = described(self.client)
        return {
            (topic, at): [(one.log_dir, one.is_future) for one in places_of(found, topic.name, at)]
            for topic, at in partitions_of(self.logs)
        }

    def move_all(self) -> None:
        """Move each replica to the directory where it is not, and wait until it is there alone."""
        folders = [str(folder) for folder in self.kept.folders]
        wanted = {}
        for (topic, partition), [(before, _)] in self.places().items():
            to = next(folder for folder in folders if folder != before)
            wanted[topic, partition] = [(to, False)]
            code = move(self.client, topic.name, to, partition=partition)
            expect_error(code, ErrorCode.NONE, f"a move of {topic.name}-{partition}")
        places = self.client.last_seen(self.places, wanted.__eq__, MOVED_WITHIN_MS)
        assert places == wanted, f"the replicas are in {places}, expected {wanted}"


@judges("LDIR-009")
@needs_broker(Use.PERSISTENT, {**TWO, **BRIEF})
def test_moved_replicas_have_same_answers_and_producers_go_on(
    persistent_broker: PersistentBroker,
) -> None:
    """Moved to the other directory, moved back with more records, and started again."""
    client = persistent_broker.client
    client.version("AlterReplicaLogDirs")
    client.version("DescribeProducers")
    moved = MovedLogs(persistent_broker)
    moved.restart()
    moved.append()
    for when in ("after a move,", "after a move back,"):
        before = moved.ask()
        with requirement("LDIR-009"):
            moved.move_all()
            expect_same(client, before, moved.ask, when)
            moved.writer.expect_goes_on(when)
        grow(client, moved.logs)
    before = moved.ask()
    with requirement("LDIR-009"):
        moved.restart()
        expect_same(client, before, moved.ask, "after a move and a restart,")

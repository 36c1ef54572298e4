"""RECV, LDIR: open and aborted transactions in a log, after restarts and a move of the log."""

from __future__ import annotations

from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.log_dirs import TWO, described, move, places_of
from suites.durability.support.placed_transactions import (
    ENDED,
    EXPECTED,
    OPEN,
    committed_views,
    place_transactions,
    start_with,
)

MOVED_WITHIN_MS = 60_000


@judges("RECV-030")
@needs_broker(Use.PERSISTENT)
def test_open_and_aborted_transactions_are_same_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Recovered, started after an end in good order, recovered again; one begins at offset 0."""
    topic = place_transactions(persistent_broker)
    with requirement("RECV-030"):
        found = committed_views(persistent_broker, topic)
        assert found == EXPECTED, f"recovered: {found}, expected {EXPECTED}"
        persistent_broker.stop()
        start_with(persistent_broker, topic)
        found = committed_views(persistent_broker, topic)
        assert found == EXPECTED, f"after a stop: {found}, expected {EXPECTED}"
        persistent_broker.kill()
        start_with(persistent_broker, topic)
        found = committed_views(persistent_broker, topic)
        assert found == EXPECTED, f"after a kill: {found}, expected {EXPECTED}"


@judges("LDIR-009")
@needs_broker(Use.PERSISTENT, {**TWO, **BRIEF})
def test_open_and_aborted_transactions_are_same_after_move(
    persistent_broker: PersistentBroker,
) -> None:
    """Both logs are moved to the other directory; then the broker is started again."""
    client = persistent_broker.client
    client.version("AlterReplicaLogDirs")
    topic = place_transactions(persistent_broker)
    folders = [str(folder) for folder in persistent_broker.folders]

    def places() -> list[list[tuple[str, bool]]]:
        found = described(client)
        return [
            [(one.log_dir, one.is_future) for one in places_of(found, topic.name, at)]
            for at in (OPEN, ENDED)
        ]

    wanted = []
    for at, [(before, _)] in enumerate(places()):
        to = next(folder for folder in folders if folder != before)
        move(client, topic.name, to, partition=at)
        wanted.append([(to, False)])
    client.eventually(lambda: places() == wanted, "the replicas are moved", MOVED_WITHIN_MS)
    with requirement("LDIR-009"):
        found = committed_views(persistent_broker, topic)
        assert found == EXPECTED, f"with transactions, after a move: {found}, expected {EXPECTED}"
        persistent_broker.stop()
        start_with(persistent_broker, topic)
        found = committed_views(persistent_broker, topic)
        assert found == EXPECTED, f"with transactions, started again: {found}, expected {EXPECTED}"

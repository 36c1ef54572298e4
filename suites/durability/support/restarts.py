"""Ends of a broker, after each of which a test starts it again and compares whole answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.brokers.persistent_broker import PersistentBroker
from suites.protocol.support.rich_logs import partitions_of
from suites.protocol.support.whole_answers import WholeAnswers, expect_same

STOPPED, KILLED, AGAIN = "after a stop,", "after a kill,", "after a second stop,"
ENDS = (STOPPED, KILLED, AGAIN)

Ask = Callable[[], WholeAnswers]


def end(kept: PersistentBroker, when: str) -> None:
    """End the broker in the way that ``when`` describes."""
    (kept.kill if when == KILLED else kept.stop)()


def expect_kept(
    kept: PersistentBroker,
    requirement_id: str,
    logs: Mapping[Topic, int],
    ask: Ask,
    go_on: Callable[[str], None],
) -> None:
    """Answers are after each end as before it, when all partitions of ``logs`` are served.

    ``go_on`` is called after each comparison, with a text for reasons; it changes the state or
    judges more.
    """
    for when in ENDS:
        before = ask()
        end(kept, when)
        with requirement(requirement_id):
            kept.start()
            for topic, partition in partitions_of(logs):
                kept.client.await_served(topic, partition)
            expect_same(kept.client, before, ask, when)
        go_on(when)

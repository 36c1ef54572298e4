"""RECV: messages of the formats before batches are the same when the broker is started again."""

from __future__ import annotations

from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.restarts import expect_kept
from suites.protocol.support.old_logs import OldLogs


@judges("RECV-031")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_messages_of_older_formats_are_same_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """In each codec, in several segments; more are appended after each restart."""
    client = persistent_broker.client
    logs = OldLogs(client, lambda configs: client.create_topic(configs=configs))
    logs.append(b"before")
    expect_kept(
        persistent_broker,
        "RECV-031",
        dict.fromkeys(logs.topics, 1),
        logs.answers,
        lambda when: logs.append(when.encode()),
    )

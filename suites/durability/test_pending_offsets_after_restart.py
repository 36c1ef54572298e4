"""TXN: offsets of an open transaction when the broker is started again (KIP-98, KIP-447)."""

from __future__ import annotations

import pytest

from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from harness.runner.refusal_judged import refusal_judged
from suites.protocol.support.committed_offsets import commit, entry, fetch_offsets, fresh_group
from suites.protocol.support.transactional import TxnProducer
from suites.protocol.support.transactional_offsets import (
    end_and_settle,
    make_pending,
    offsets_once,
    pending,
)

PARTITIONS = 11
"""By this number a defect recognizes the test."""
COMMITTED, PENDING, LATER, TIMEOUT_MS = 5, 9, 3, 600_000


@judges("TXN-061")
@needs_broker(Use.PERSISTENT)
@pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])
def test_pending_offsets_are_decided_after_restart(
    persistent_broker: PersistentBroker, commits: bool
) -> None:
    """One pending offset is behind a committed one, another before it; the broker is killed.

    The end of the transaction then concerns the first alone.
    """
    client = persistent_broker.client
    producer = TxnProducer(client, "TXN-061", timeout_ms=TIMEOUT_MS)
    topic = client.create_topic(PARTITIONS)
    group = fresh_group(client, topic)
    commit(client, group, {topic: [entry(COMMITTED, "before")]})
    make_pending(producer, group, {topic: [pending(PENDING), pending(PENDING, "", 1)]})
    commit(client, group, {topic: [entry(LATER, "behind", 1)]})
    persistent_broker.kill()
    persistent_broker.start()
    again, done = producer.through(client), "the commit" if commits else "the abort"
    with requirement("TXN-061"):
        found = offsets_once(again, group, topic, {0: COMMITTED, 1: LATER})
        found.expect(topic, COMMITTED, "before", where="after the restart")
        found.expect(topic, LATER, "behind", partition=1, where="after the restart")
        with refusal_judged():
            end_and_settle(again, commit=commits)
        found = offsets_once(again, group, topic, {0: PENDING if commits else COMMITTED})
        expected = (PENDING, "") if commits else (COMMITTED, "before")
        found.expect(topic, *expected, where=f"after {done}")
        found = fetch_offsets(client, group, {topic: [1]})
        found.expect(topic, LATER, "behind", partition=1, where=f"after {done}")

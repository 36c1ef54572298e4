"""STOR: compaction goes on where it was when the broker is started again."""

from __future__ import annotations

from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.protocol.support.compacted import (
    QUICKLY,
    KeyedBatches,
    await_compacted,
    compacted_topic,
)
from suites.protocol.support.dirty_logs import (
    FEW,
    FIRST,
    LEFT_OF_FEW,
    LEFT_OF_FIRST,
    LEFT_OF_MORE,
    MORE,
    expect_left,
    write,
)


@judges("STOR-024")
@needs_broker(Use.PERSISTENT, {**QUICKLY, **BRIEF})
def test_dirty_part_of_log_is_the_same_after_restart(persistent_broker: PersistentBroker) -> None:
    """A log is compacted, then small batches are dirty, and the broker is started again.

    They are not compacted until larger ones come. Beside it is a log that is always compacted.
    """
    client, made = persistent_broker.client, KeyedBatches()
    always, at_half = compacted_topic(client), compacted_topic(client, least_dirty="0.5")
    write(client, made, FIRST, always, at_half)
    for topic in (always, at_half):
        await_compacted(client, topic, {0: LEFT_OF_FIRST})
    write(client, made, FEW, always, at_half)
    await_compacted(client, always, {0: LEFT_OF_FEW})
    persistent_broker.stop()
    persistent_broker.start()
    with requirement("STOR-024"):
        await_back(client, always)
        await_back(client, at_half)
        write(client, made, MORE, always)
        await_compacted(client, always, {0: LEFT_OF_MORE})
        expect_left(
            client, at_half, [*LEFT_OF_FIRST, 6, 7], "after a restart small batches are dirty"
        )
        write(client, made, MORE, at_half)
        await_compacted(client, at_half, {0: LEFT_OF_MORE})

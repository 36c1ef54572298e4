"""STOR: logs that are not compacted, on a broker that compacts others."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.keyed import CleaningWitness, KeyedLog, compacted
from suites.protocol.support.compacted import QUICKLY

KEYS = (b"first", b"second", b"never compacted")


@judges("STOR-034")
@needs_broker(Use.TUNED, QUICKLY)
def test_log_with_policy_delete_keeps_all_records_of_each_key(broker: BrokerUnderTest) -> None:
    """A log with the same keys, times and segments is compacted, and then others twice more."""
    deleted = KeyedLog(broker, compacted(broker, cleanup__policy="delete"))
    cleaned = KeyedLog(broker, compacted(broker))
    for number in range(3):
        for key in KEYS:
            deleted.append((key, b"%d" % number))
            cleaned.append((key[::-1], b"%d" % number))
    cleaned.await_compacted()
    CleaningWitness(broker).look()
    with requirement("STOR-034"):
        left = deleted.read()
        assert left == deleted.written, f"left is {left}, written was {deleted.written}"

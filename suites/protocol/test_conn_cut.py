"""CONN: a connection that is cut in the middle of a request."""

from __future__ import annotations

from itertools import cycle

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic, produce_request
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.conformance.checks import requirement
from harness.faults import Faults, requests
from harness.marks import at_versions, judges
from suites.protocol.appended import batch_of
from suites.protocol.kept_topics import KeptTopics
from suites.protocol.partition_log import UntouchedLog

CLIENT = "CONN-022"
STEP_BYTES = 7  # between the cuts of one version; from version to version they move by one
LENGTH_BYTES = 4


def _plain(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


@judges("CONN-022")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
def test_a_produce_that_is_cut_appends_nothing(
    broker: BrokerUnderTest, faults: Faults, kept: KeptTopics, api_version: int
) -> None:
    """First the whole request, which is appended; then its beginning, up to one byte or another,
    before the connection is closed or reset: the log does not grow.
    """
    topic = kept.topic(broker, _plain)
    request = produce_request(topic, batch_of(b"cut", version=api_version), api_version)
    size = len(frame(encode_request(request, api_version, 1, CLIENT)))
    ends = cycle(("close", "reset"))
    first = 1 + api_version % STEP_BYTES
    with faults.path() as path:
        before = broker.end_offset(topic)
        whole = broker.connect(CLIENT, through=path.address)
        whole.send(request, api_version)
        whole.receive_frame()
        log = UntouchedLog(broker, topic)
        if log.end != before + 1:
            raise PreparationFailed(f"the whole request: the log grew from {before} to {log.end}")
        with requirement("CONN-022"):
            for at_byte in sorted({*range(first, size, STEP_BYTES), LENGTH_BYTES, size - 1}):
                rule = requests("Produce").truncate(at_byte, then=next(ends))
                path.arm(rule)
                connection = broker.connect(CLIENT, through=path.address)
                connection.send(request, api_version)
                connection.expect_closed()
                path.expect_fired(rule.id)
                path.disarm()
            log.expect_untouched("requests that were cut")

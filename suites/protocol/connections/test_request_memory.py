"""CONN: how many bytes of requests a broker takes in at a time."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import WireViolation
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.answers import expect_answers
from suites.protocol.support.healthy import HELD_UP_MS, expect_healthy, healthy

MOST_BYTES = 20_000
MEMORY = {
    "queued.max.request.bytes": str(MOST_BYTES),
    "socket.request.max.bytes": str(MOST_BYTES),  # may not be larger
}
SILENT_MS = 500
PROBES = 5
FIRST, WAITING = 1, 2


@judges("CONN-033")
@needs_broker(Use.OWN, MEMORY)
def test_request_waits_while_others_take_queued_max_request_bytes(broker: BrokerUnderTest) -> None:
    """A request without its last byte has all these bytes, or all but one; then it ends."""
    with requirement("CONN-033") as check, in_time(broker.scaled_ms(HELD_UP_MS)):
        with check.subtest("one byte is left"):
            _begin_request(broker, MOST_BYTES - 1)[0].close()
            first, rest = _begin_request(broker, MOST_BYTES - 1)
            for _ in range(PROBES):  # the first may be served before the large request is read
                expect_healthy(broker.connect(), broker)
            first.send_bytes(rest)
            expect_answers(first, [FIRST])
        with check.subtest("a request takes more than is left"):
            first, rest = _begin_request(broker, MOST_BYTES - 1)
            second, _ = _begin_request(broker, MOST_BYTES)
            waiting = _unanswered(broker)
            first.send_bytes(rest)
            second.close()
            expect_answers(first, [FIRST])
            expect_answers(waiting, [WAITING])
        with check.subtest("none is left until the request is answered"):
            first, rest = _begin_request(broker, MOST_BYTES)
            waiting = _unanswered(broker)
            first.send_bytes(rest)
            expect_answers(first, [FIRST])
            expect_answers(waiting, [WAITING])
        with check.subtest("none is left until the connection is closed"):
            first, _ = _begin_request(broker, MOST_BYTES)
            waiting = _unanswered(broker)
            first.close()
            expect_answers(waiting, [WAITING])


def _begin_request(broker: BrokerUnderTest, size_bytes: int) -> tuple[Connection, bytes]:
    """Send a request of this size but for its last byte; return its connection and this byte."""
    bare_bytes = len(encode_request(healthy(broker), 0, FIRST, ""))
    client_id = "c" * (size_bytes - bare_bytes)
    data = frame(encode_request(healthy(broker), 0, FIRST, client_id))
    connection = broker.connect()
    connection.send_bytes(data[:-1])
    return connection, data[-1:]


def _unanswered(broker: BrokerUnderTest) -> Connection:
    """Send requests until one gets no answer; an earlier one may be read before the large one."""

    def send_one() -> Connection | None:
        connection = broker.connect()
        connection.send_frame(encode_request(healthy(broker), 0, WAITING, ""))
        try:
            connection.expect_silence(broker.scaled_ms(SILENT_MS))
        except WireViolation:
            connection.close()
            return None
        return connection

    found = broker.last_seen(send_one, bool)
    assert found is not None, f"a request is answered while another one has {MOST_BYTES} bytes"
    return found

"""CONN: frames that do not end with the pieces of the stream, and repeated correlation ids."""

from __future__ import annotations

import struct

from harness.client.broker import BrokerUnderTest
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ListOffsetsRequest, MetadataRequest
from harness.codec.structs import Message, Request
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.answers import expect_answers
from suites.protocol.support.healthy import healthy

SAME_ID = 8008


@judges("CONN-020")
def test_frames_split_across_writes_are_answered_when_complete(broker: BrokerUnderTest) -> None:
    """One frame and a half, its answer, the other half with half of the next, and so on: each
    frame is answered as soon as it is whole.
    """
    frames = [frame(encode_request(healthy(broker), 0, one, "CONN-020")) for one in range(6)]
    size = len(frames[0])
    # how much of a frame comes with the end of the one before it
    ahead = [0, 2, struct.calcsize(">i"), size // 2, size - 1, 1]
    connection = broker.connect("CONN-020")
    with requirement("CONN-020"):
        for number, data in enumerate(frames):
            begun = frames[number + 1][: ahead[number + 1]] if data is not frames[-1] else b""
            connection.send_bytes(data[ahead[number] :] + begun)
            expect_answers(connection, [number])


@judges("CONN-008")
def test_requests_with_same_correlation_id_are_all_answered(
    broker: BrokerUnderTest,
) -> None:
    """Three different requests in flight with one id: three answers, each to its own request."""
    version = broker.version("Metadata")
    asked: list[tuple[Request[Message], int]] = [
        (healthy(broker), 0),
        (MetadataRequest(topics=[]), version),
        (ListOffsetsRequest(replica_id=-1, topics=[]), broker.version("ListOffsets")),
    ]
    connection = broker.connect()
    with requirement("CONN-008"):
        for message, at_version in asked:
            connection.send(message, at_version, correlation_id=SAME_ID)
        for _ in asked:
            connection.receive(tolerant=True)
        connection.expect_silence(for_ms=1)

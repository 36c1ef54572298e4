"""A request that only probes the connection: at version 0, answered immediately."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ApiVersionsRequest, ApiVersionsResponse, ListOffsetsRequest
from harness.codec.structs import Message, Request
from suites.protocol.support.expect import expect_error

# A blocked connection waits forever, or for twice this: an old broker on a busy machine may pause
# seconds (5 were too few for 0.10.2.2).
HELD_UP_MS = 15_000


def healthy(broker: BrokerUnderTest) -> Request[Message]:
    """ApiVersions; for a broker from before it ListOffsets, about no topic."""
    if broker.advertised("ApiVersions"):
        return ApiVersionsRequest()
    return ListOffsetsRequest(replica_id=-1, topics=[])


def expect_healthy(connection: Connection, broker: BrokerUnderTest) -> None:
    """The connection is served as ever."""
    answer = connection.ask(healthy(broker), 0)
    if isinstance(answer, ApiVersionsResponse):
        expect_error(answer.error_code, ErrorCode.NONE)

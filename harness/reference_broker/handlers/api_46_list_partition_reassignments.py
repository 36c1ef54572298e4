"""ListPartitionReassignments: API key 46, versions 0 to 0.

Behaviour
- Nothing moves on a cluster of one, and what does not move is not told, whether it exists or not.
"""

from harness.codec.messages import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 46


def handle(_: ListPartitionReassignmentsRequest, __: RequestContext) -> Answer:
    """An empty list."""
    return Answer(ListPartitionReassignmentsResponse(error_message=None))

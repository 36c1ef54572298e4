"""The topics that a broker keeps for itself, brought into being as any client does it."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest
from harness.conformance.checks import NotApplicable

KEY_TYPES = {"__consumer_offsets": 0, "__transaction_state": 1}


def internal_topic(broker: BrokerUnderTest, name: str) -> Topic:
    """Ask for its coordinator, which creates it where it is missing.

    Raises NotApplicable when there is a coordinator and no such topic: the broker may keep its
    groups and transactions elsewhere.
    """
    key = broker.unique_topic()
    version = broker.version("FindCoordinator", "1+")
    request = FindCoordinatorRequest(key_type=KEY_TYPES[name])
    if version >= 4:  # several keys at once (KIP-699)
        request.coordinator_keys = [key]
    else:
        request.key = key

    def has_coordinator() -> bool:
        answer = broker.ask(request, version)
        code = (
            only(answer.coordinators, "coordinator").error_code
            if version >= 4
            else answer.error_code
        )
        return code == ErrorCode.NONE

    broker.eventually(has_coordinator, f"a coordinator, which needs {name}")
    found = only(broker.metadata([name]).topics, "topic")
    if found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise NotApplicable("internal_topics", f"the broker has coordinators and no {name}")
    return Topic(name, found.topic_id)

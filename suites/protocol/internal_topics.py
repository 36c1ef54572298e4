"""Coordinators, and the topics that a broker keeps for itself, come as any client gets them."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest
from harness.conformance.checks import NotApplicable

GROUP, TRANSACTION = 0, 1
OFFSETS_TOPIC = "__consumer_offsets"
NOT_YET = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE}
"""What a coordinator says that will soon be there."""
KEY_TYPES = {OFFSETS_TOPIC: GROUP, "__transaction_state": TRANSACTION}


def await_coordinator(broker: BrokerUnderTest, key_type: int) -> None:
    """Ask for a coordinator, whose topic is made when it is first needed, until there is one."""
    key = broker.unique_topic()
    version = broker.version("FindCoordinator", "0+" if key_type == GROUP else "1+")
    request = FindCoordinatorRequest(key_type=key_type)
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

    broker.eventually(has_coordinator, f"there is a coordinator for key type {key_type}")


def internal_topic(broker: BrokerUnderTest, name: str) -> Topic:
    """Ask for its coordinator, which creates it where it is missing.

    Raises NotApplicable when there is a coordinator and no such topic: the broker may keep its
    groups and transactions elsewhere.
    """
    await_coordinator(broker, KEY_TYPES[name])
    found = only(broker.metadata([name]).topics, "topic")
    if found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise NotApplicable("internal_topics", f"the broker has coordinators and no {name}")
    return Topic(name, found.topic_id)

"""Topics with a setting that not every broker has."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotApplicable


def topic_with(broker: BrokerUnderTest, name: str, value: str) -> Topic:
    """A topic with this setting; NotApplicable where the broker has no such setting."""
    try:
        return broker.create_topic(configs={name: value})
    except PreparationFailed as refused:
        if refused.error_code != ErrorCode.INVALID_CONFIG:
            raise
        raise NotApplicable(name, f"the broker has no topic setting {name}") from refused

"""The topics that a broker keeps for itself, and what their coordinators say."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import GROUP, TRANSACTION, await_coordinator
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotApplicable

OFFSETS_TOPIC = "__consumer_offsets"
NOT_YET = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE}
"""Error codes of a coordinator that is not ready yet."""
UNSIGNED = 0xFFFFFFFF
FIRST_LETTER, LETTERS = "0", 7
"""The lowest of 31 letters, and the number of letters with which a hash can become any number."""
KEY_TYPES = {OFFSETS_TOPIC: GROUP, "__transaction_state": TRANSACTION}


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


def hash_of(group: str) -> int:
    """Return the hash of a group's name that selects its partition of the offsets topic.

    ``String.hashCode`` without its sign; the number without a positive one is 0 (``Utils.abs``).
    """
    number = _unsigned_hash(group)
    return min(number, UNSIGNED + 1 - number) & (UNSIGNED >> 1)


def _unsigned_hash(text: str) -> int:
    number, units = 0, text.encode("utf-16-be")
    for at in range(0, len(units), 2):
        number = (31 * number + int.from_bytes(units[at : at + 2], "big")) & UNSIGNED
    return number


def with_hash(group: str, wanted: int) -> str:
    """Return the name with letters behind it that make this number its ``String.hashCode``."""
    missing = (wanted - _unsigned_hash(group + FIRST_LETTER * LETTERS)) & UNSIGNED
    letters = ""
    for _ in range(LETTERS):
        missing, step = divmod(missing, 31)
        letters = chr(ord(FIRST_LETTER) + step) + letters
    return group + letters

"""The calls that a client's process takes, and the form of a record in them.

A call is a JSON object on a line of its own: ``{"call": name, ...arguments}``. The answer is
``{"answer": ...}``, ``{"error": text}`` when the client failed, or ``{"lacks": text}`` when the
client has no such function. Keys, values and headers are text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

CALLS = {
    "create_topic": "create a topic with partitions and configs",
    "list_topics": "list topics",
    "describe_topic": "describe a topic: leader, replicas and ISR of each partition",
    "describe_configs": "describe a topic's configs",
    "alter_configs": "set a topic's configs",
    "create_partitions": "add partitions",
    "delete_records": "delete records before an offset",
    "delete_topic": "delete a topic",
    "produce": "send records with partition, key, timestamp, headers and a codec",
    "transact": "send records in a transaction, and commit or abort it",
    "read": "read a partition from an offset on",
    "offsets_for_times": "ask for offsets by time",
    "read_from_time": "seek by time and read from there",
    "join": "join a group",
    "poll": "read what the group assigns",
    "assignment": "what the group has assigned",
    "commit": "commit",
    "leave": "leave the group",
    "list_groups": "list groups",
    "describe_group": "describe a group and its members",
    "group_offsets": "list a group's committed offsets",
    "delete_group": "delete a group",
}
"""The purpose of each call. Arguments and answers: those of the method in ``session``."""

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
EAGER, COOPERATIVE = "eager", "cooperative"
STRATEGIES = (EAGER, COOPERATIVE)
"""At a rebalance, members give up all partitions, or those alone that move (KIP-429)."""
CONSUMER = "consumer"
"""In place of a strategy: the protocol of groups in which the broker assigns (KIP-848)."""

POLL_MS = 200
POLL_RECORDS = 5
"""Limits of a poll in time and records, small so that a member is not done before another joins."""
SESSION_MS = 30_000
HEARTBEAT_MS = 300
REQUEST_MS = 30_000
REQUEST_S = REQUEST_MS / 1000
READ_COMMITTED = {"isolation_level": "read_committed"}
"""Settings of a consumer, as the clients in Python alone name them."""

Json = dict[str, Any]


class ClientLacks(Exception):
    """The client has no such function; the text is the reason.

    ``capability``: its name in results.
    """

    capability = "client"


def text_of(data: bytes | str | None) -> str | None:
    """Return the text that an answer contains for bytes."""
    return data.decode() if isinstance(data, bytes) else data


def bytes_of(text: str | None) -> bytes | None:
    """Return the bytes of a text, the reverse of ``text_of``."""
    return None if text is None else text.encode()


def record(
    partition: int,
    offset: int,
    timestamp_ms: int,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]],
) -> Json:
    """A record that was read."""
    return {
        "partition": partition,
        "offset": offset,
        "timestamp_ms": timestamp_ms,
        "key": text_of(key),
        "value": text_of(value),
        "headers": [[name, text_of(each)] for name, each in headers],
    }

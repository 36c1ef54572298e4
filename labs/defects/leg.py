"""Defects of area LEG: plausible mistakes in this project's functions by document."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from harness.historical.async_batching import AsyncBatching
from harness.historical.consumer_registration import ConsumerRegistration
from harness.historical.enriched_message import EnrichedMessage
from harness.historical.log_format import LogFormat
from harness.historical.messages_0_7 import Message07, MessageSet
from harness.historical.partition_owners import Owned, PartitionOwners
from harness.historical.requests_0_7 import FetchResponse
from harness.historical.zookeeper_registry import RegisteredBroker
from labs.defects.defect import wrong

PLACE = "harness.historical"
Right = Callable[..., Any]


@wrong("LEG-001", r"magic 1 is 0{6}0f0100", f"{PLACE}.messages_0_7", "entry_bytes")
def the_checksum_covers_the_attributes(right: Right) -> Right:
    """The checksum of magic 1 is that of attributes and payload, as since 0.8."""

    def entry_bytes(message: Message07) -> bytes:
        data: bytes = right(message)
        if not message.magic:
            return data
        covered = data[5:6] + message.payload
        return data[:6] + struct.pack(">I", zlib.crc32(covered)) + message.payload

    return entry_bytes


@wrong("LEG-002", r"next id 1, not 9|next id 1001, not 1009", f"{PLACE}.messages_0_7",
       "read_message_set")  # fmt: skip
def ids_are_counted(right: Right) -> Right:
    """The reader numbers messages one by one, as since 0.8."""

    def read_message_set(data: bytes, initial_offset: int = 0, **how: Any) -> MessageSet:
        found: MessageSet = right(data, initial_offset, **how)
        entries = [
            one._replace(offset=initial_offset + at, next_offset=initial_offset + at + 1)
            for at, one in enumerate(found.entries)
        ]
        return found._replace(entries=entries)

    return read_message_set


@wrong("LEG-003", r"a fetch result is .*, not", f"{PLACE}.requests_0_7", "encode_fetch_response")
def the_length_leaves_the_error_out(right: Right) -> Right:
    """The total length of a fetch result counts only its messages."""

    def encode_fetch_response(response: FetchResponse) -> bytes:
        data: bytes = right(response)
        return struct.pack(">i", len(response.messages)) + data[4:]

    return encode_fetch_response


@wrong("LEG-004", r"gzip: 1 messages", f"{PLACE}.messages_0_7", "read_message_set")
def compressed_sets_stay_closed(right: Right) -> Right:
    """The reader returns a compressed message without the messages inside."""

    def read_message_set(data: bytes, initial_offset: int = 0, **how: Any) -> MessageSet:
        found: MessageSet = right(data, initial_offset, **{**how, "is_deep": False})
        return found

    return read_message_set


@wrong("LEG-005", r"with a block of nonsense|an entry at \d+ is wrong",
       f"{PLACE}.log_recovery", "read_message")  # fmt: skip
def recovery_looks_at_sizes_alone(right: Right) -> Right:
    """Recovery of 0.8 accepts an entry that ends within the file, whatever its checksum is."""
    return lambda *place: None


@wrong("LEG-005", r"entry 0 of 3 is damaged", f"{PLACE}.log_recovery", "read_message")
def the_first_entry_is_not_checked(right: Right) -> Right:
    """Recovery of 0.8 does not compare the checksum of the first entry of a file."""

    def read_message(data: bytes, start: int, stop: int) -> Any:
        return right(data, start, stop) if start else None

    return read_message


@wrong("LEG-006", r"another message than was written|partial bytes|were read: \[b",
       f"{PLACE}.growing_fetch", "split_entries")  # fmt: skip
def what_is_cut_is_handed_out(right: Right) -> Right:
    """A fetch returns the cut end of a buffer as a message."""

    def split_entries(data: bytes, log_format: LogFormat) -> tuple[list[bytes], int]:
        entries, partial_bytes = right(data, log_format)
        return entries + ([data[-partial_bytes:]] if partial_bytes else []), 0

    return split_entries


@wrong("LEG-007", r"given, .* first", f"{PLACE}.range_assignment", "range_assignment")
def what_is_left_goes_to_nobody(right: Right) -> Right:
    """Each consumer gets from i*N to (i+1)*N - 1, even if that leaves partitions over."""

    def range_assignment(partitions: Iterable[Any], consumers: Iterable[str]) -> Any:
        found = right(partitions, consumers)
        each = min(map(len, found.values()), default=0)
        return {consumer: mine[:each] for consumer, mine in found.items()}

    return range_assignment


@wrong("LEG-008", r"'21' is in \d+ of \d+", f"{PLACE}.partitioners", "partition_by_murmur2")
def the_sign_is_turned(right: Right) -> Right:
    """A negative hash becomes positive by its absolute value, not by removal of the sign bit."""
    hashed = right.__globals__["murmur2"]

    def partition_by_murmur2(key: bytes | None, partitions: int, *, any_partition: int = 0) -> int:
        return any_partition if key is None else abs(hashed(key)) % partitions

    return partition_by_murmur2


@wrong("LEG-009", r"broker of 0.7 by its class: .* is read as", f"{PLACE}.zookeeper_registry",
       "decode_broker")  # fmt: skip
def the_creator_is_part_of_the_host(right: Right) -> Right:
    """The reader takes everything before the last colon of a 0.7 broker for its host."""

    def decode_broker(text: str) -> RegisteredBroker:
        found: RegisteredBroker = right(text)
        if found.creator is None:
            return found
        return found._replace(host=f"{found.creator}:{found.host}", creator=None)

    return decode_broker


@wrong("LEG-010", r"b claimed a partition that a owns", f"{PLACE}.partition_owners",
       "PartitionOwners.claim")  # fmt: skip
def who_comes_last_owns(right: Right) -> Right:
    """A claim replaces the former owner."""

    def claim(self: PartitionOwners, owned: Owned, consumer: str) -> bool:
        self.owners[owned] = consumer
        return True

    return claim


@wrong("LEG-011", r"b1 is added: rebalanced are \['few', 'most', 'named'\]",
       f"{PLACE}.consumer_registration", "ConsumerRegistration.topic_is_added")  # fmt: skip
def a_new_topic_rebalances_everyone(right: Right) -> Right:
    """Consumers without a filter rebalance too when a topic is added."""

    def topic_is_added(self: ConsumerRegistration, topic: str, partitions: Any) -> set[str]:
        right(self, topic, partitions)
        return set(self.groups)

    return topic_is_added


@wrong("LEG-012", r"relative offsets 0, 1, 4 at 100 are \[100, 101, 102\]",
       f"{PLACE}.enriched_message", "absolute_offsets")  # fmt: skip
def offsets_inside_have_no_holes(right: Right) -> Right:
    """The reader numbers messages inside a compressed one by their place, even after compaction."""

    def absolute_offsets(outer: int, inner: Any, *, are_honored: bool = True) -> Any:
        found: list[EnrichedMessage] = right(outer, inner, are_honored=False)
        return found

    return absolute_offsets


@wrong("LEG-013", r"501 by 100 needs 5 partitions", f"{PLACE}.partition_count", "partition_count")
def the_rest_needs_no_partition(right: Right) -> Right:
    """The partition count is the quotient rounded down."""

    def partition_count(expected: int | Fraction, of_one: int | Fraction) -> int:
        return max(1, expected // of_one)

    return partition_count


@wrong("LEG-014", r"sent after 99 ms \[\], after 100 \[\]", f"{PLACE}.async_batching",
       "AsyncBatching.expire")  # fmt: skip
def only_full_batches_go(right: Right) -> Right:
    """The producer keeps events until a batch is full, however long that takes."""

    def expire(self: AsyncBatching[Any], now_ms: int) -> list[Any]:
        return []

    return expire


@wrong("LEG-014", r"three events are full, sent is \[\]", f"{PLACE}.async_batching",
       "AsyncBatching.add")  # fmt: skip
def the_time_of_a_sent_batch_goes_on(right: Right) -> Right:
    """The queue time counts from an event that was sent already."""

    def add(self: AsyncBatching[Any], event: Any, now_ms: int) -> list[Any]:
        is_first, oldest_ms = not self._waiting, self._oldest_ms
        sent: list[Any] = right(self, event, now_ms)
        if is_first and oldest_ms:
            self._oldest_ms = oldest_ms
        return sent

    return add


DEFECTS = [
    the_checksum_covers_the_attributes,
    ids_are_counted,
    the_length_leaves_the_error_out,
    compressed_sets_stay_closed,
    recovery_looks_at_sizes_alone,
    the_first_entry_is_not_checked,
    the_time_of_a_sent_batch_goes_on,
    what_is_cut_is_handed_out,
    what_is_left_goes_to_nobody,
    the_sign_is_turned,
    the_creator_is_part_of_the_host,
    who_comes_last_owns,
    a_new_topic_rebalances_everyone,
    offsets_inside_have_no_holes,
    the_rest_needs_no_partition,
    only_full_batches_go,
]

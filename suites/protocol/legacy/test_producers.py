"""LEG: what producers worked out for themselves, and how many partitions a topic needs."""

from __future__ import annotations

from fractions import Fraction

from harness.conformance.checks import requirement
from harness.historical.async_batching import AsyncBatching
from harness.historical.partition_count import partition_count
from harness.historical.partitioners import (
    java_string_hash,
    murmur2,
    partition_by_hash_code,
    partition_by_murmur2,
)
from harness.runner.marks import judges, offline

HASH_CODES = {"": 0, "a": 97, "kafka": 101807910, "polygenelubricants": -(2**31), "é€": 15587}
MURMUR2 = {
    "21": -973932308,
    "foobar": -790332482,
    "abc": 479470107,
    "a-little-bit-long-string": -985981536,
}
COUNTS = (1, 2, 7, 50)


@offline()
@judges("LEG-008")
def test_partitioner_maps_key_by_hash_and_null_key_to_any_partition() -> None:
    with requirement("LEG-008"):
        for text, expected in HASH_CODES.items():
            assert java_string_hash(text) == expected, f"hashCode of {text!r}"
        for text, expected in MURMUR2.items():
            assert murmur2(text.encode()) == expected, f"murmur2 of {text!r}"
        for partitions in COUNTS:
            for text, hashed in HASH_CODES.items():
                expected = (0 if hashed == -(2**31) else abs(hashed)) % partitions
                found = partition_by_hash_code(text, partitions)
                assert found == expected, f"{text!r} is in {found} of {partitions}, not {expected}"
            for text, hashed in MURMUR2.items():
                expected = hashed % 2**31 % partitions
                found = partition_by_murmur2(text.encode(), partitions)
                assert found == expected, f"{text!r} is in {found} of {partitions}, not {expected}"
            for drawn in range(partitions):
                null_keys = (
                    partition_by_hash_code(None, partitions, any_partition=drawn),
                    partition_by_murmur2(None, partitions, any_partition=drawn),
                )
                assert null_keys == (drawn, drawn), f"null is in {null_keys}, drawn was {drawn}"


@offline()
@judges("LEG-013")
def test_partition_count_is_throughput_quotient_rounded_up() -> None:
    cases: list[tuple[int | Fraction, int | Fraction, int]] = [
        (500, 100, 5),
        (501, 100, 6),
        (499, 100, 5),
        (1, 100, 1),
        (0, 100, 1),
        (Fraction(11, 10), Fraction(1, 10), 11),
    ]
    with requirement("LEG-013"):
        for throughput, of_one, count in cases:
            found = partition_count(throughput, of_one)
            assert found == count, f"{throughput} by {of_one} needs {found} partitions, not {count}"


@offline()
@judges("LEG-014")
def test_async_batch_is_sent_when_batch_size_is_reached() -> None:
    batching: AsyncBatching[int] = AsyncBatching(batch_size=3, queue_time_ms=100)
    with requirement("LEG-014"):
        sent = [batching.add(event, now_ms=event) for event in range(7)]
        expected = [[], [], [0, 1, 2], [], [], [3, 4, 5], []]
        assert sent == expected, f"of seven events in batches of three were sent {sent}"
        assert batching.close() == [6], "what is left is not sent at the end"


@offline()
@judges("LEG-014")
def test_async_batch_is_sent_when_queue_time_is_reached() -> None:
    batching: AsyncBatching[str] = AsyncBatching(batch_size=3, queue_time_ms=100)
    with requirement("LEG-014"):
        due = [batching.due_at_ms]
        for event, now_ms in (("a", 1000), ("b", 1090)):
            assert batching.add(event, now_ms) == [], f"{event} is sent at once"
            due.append(batching.due_at_ms)
        assert due == [None, 1100, 1100], f"empty, and queued at 1000 and 1090, due at {due}"
        early, late = batching.expire(now_ms=1099), batching.expire(now_ms=1100)
        assert (early, late) == ([], ["a", "b"]), f"sent after 99 ms {early}, after 100 {late}"
        assert batching.expire(now_ms=5000) == [], "what was sent is sent again"
        sent = [batching.add(event, now_ms=6000) for event in "cde"]
        assert sent[-1] == ["c", "d", "e"], f"three events are full, sent is {sent[-1]}"
        batching.add("f", now_ms=6050)
        early, late = batching.expire(now_ms=6149), batching.expire(now_ms=6150)
        told = f"behind a full batch, sent after 99 ms {early}, after 100 {late}"
        assert (early, late) == ([], ["f"]), told

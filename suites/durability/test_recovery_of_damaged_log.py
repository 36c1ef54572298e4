"""RECV: a log with a missing, nonsensical or damaged end continues after its last whole entry."""

from __future__ import annotations

from functools import partial
from random import Random

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.broken_logs import (
    CHECKED_FROM,
    Breaking,
    EqualLogs,
    LogDamage,
    await_back,
    entries_of,
    flipped,
    length_in,
    stored,
    with_length,
)
from suites.durability.support.noted_offsets import HIGH_WATERMARKS, noted_of
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error

CUTS = 24
FLIPS, CHECKSUMS = 24, (0, 1, 2)
FLIPPED = FLIPS + len(CHECKSUMS)
LONG = 1 << 20
NOTED_WITHIN_MS = 5_000
SIZES = (1, 7, 8, 12, 13, 17, 18, 61, 62, 1000, 70_000)
NONSENSE = 2 * len(SIZES) + 1


def _cut(part: int, data: bytes) -> LogDamage:
    """Inside of the last entry: after its first ``part`` of CUTS parts; CUTS: all but a byte."""
    entries = entries_of(data)
    last = entries[-1]
    left = min(last.size * part // CUTS, last.size - 1)
    what = f"{left} of the {last.size} bytes of the last entry left"
    return LogDamage(what, len(entries) - 1, data[: last.at + left])


@judges("RECV-002")
@needs_broker(Use.PERSISTENT)
def test_truncated_log_recovers_to_last_whole_batch(persistent_broker: PersistentBroker) -> None:
    """At its last entry's beginning, and at as many bytes inside of it as there are partitions."""
    logs = EqualLogs(persistent_broker, CUTS + 1)
    logs.damage_while_down([partial(_cut, part) for part in range(CUTS + 1)])
    with requirement("RECV-002"):
        logs.start_again()
        logs.expect_recovered()


@judges("RECV-002")
@needs_broker(Use.PERSISTENT)
def test_truncated_log_recovers_where_start_before_followed_good_end(
    persistent_broker: PersistentBroker,
) -> None:
    """The broker is stopped and started before the kill: no mark of the stop may be left."""
    logs = EqualLogs(persistent_broker, 1)
    persistent_broker.stop()
    persistent_broker.start()
    await_back(persistent_broker.client, logs.topic)
    logs.damage_while_down([partial(_cut, CUTS // 2)])
    with requirement("RECV-002"):
        logs.start_again()
        logs.expect_recovered()


def _behind(what: str, nonsense: bytes, data: bytes) -> LogDamage:
    return LogDamage(f"{what} behind the last entry", len(entries_of(data)), data + nonsense)


def _last_with_bad_checksum(data: bytes) -> LogDamage:
    """The last entry once more, with another bit in its last byte."""
    last = data[entries_of(data)[-1].at :]
    return _behind("an entry with a bad checksum", flipped(last, len(last) - 1), data)


def _nonsense(random: Random) -> list[Breaking]:
    """NONSENSE of them."""
    return [
        *(partial(_behind, f"{size} zeros", bytes(size)) for size in SIZES),
        *(partial(_behind, f"{size} random bytes", random.randbytes(size)) for size in SIZES),
        _last_with_bad_checksum,
    ]


@judges("RECV-003")
@needs_broker(Use.PERSISTENT)
def test_garbage_after_last_batch_is_removed_on_start(persistent_broker: PersistentBroker) -> None:
    """Zeros, as a file system may leave them, random bytes, an entry with a bad checksum."""
    nonsense = _nonsense(persistent_broker.client.random)
    logs = EqualLogs(persistent_broker, NONSENSE)
    logs.damage_while_down(nonsense)
    with requirement("RECV-003"):
        logs.start_again()
        logs.expect_recovered()


def _flip(place: int, position: float, data: bytes) -> LogDamage:
    """A bit of the entry at this place, the position as a part of what the checksum is about."""
    entry = entries_of(data)[place]
    at = CHECKED_FROM + int((entry.size - CHECKED_FROM) * position)
    return LogDamage(f"byte {at} of entry {place} changed", place, flipped(data, entry.at + at))


@judges("RECV-004")
@needs_broker(Use.PERSISTENT)
def test_corruption_in_newest_segment_truncates_from_first_bad_batch(
    persistent_broker: PersistentBroker,
) -> None:
    """In an entry or its checksum: what is behind it goes too, although it is whole."""
    random = persistent_broker.client.random
    flips = [partial(_flip, number % 3, random.random()) for number in range(FLIPS)]
    logs = EqualLogs(persistent_broker, FLIPPED)
    logs.damage_while_down([*flips, *(partial(_checksum, place) for place in CHECKSUMS)])
    with requirement("RECV-004"):
        logs.start_again()
        logs.expect_recovered()


def _length(what: str, change: int | None, other: int, place: int, data: bytes) -> LogDamage:
    """``change`` is added to the length of the entry at this place; without, ``other`` is it."""
    entry = entries_of(data)[place]
    length = other if change is None else length_in(data, entry) + change
    place %= len(entries_of(data))
    return LogDamage(f"{what} at entry {place}", place, with_length(data, entry, length))


def _checksum(place: int, data: bytes) -> LogDamage:
    """Also that of messages, where it stands before the magic byte."""
    entries = entries_of(data)
    entry = entries[place]
    at = 17 if data[entry.at + 16] == 2 else 12
    intact = place % len(entries)
    return LogDamage(f"another checksum at entry {intact}", intact, flipped(data, entry.at + at))


_LENGTHS: list[tuple[str, int | None, int]] = [
    ("a size one byte beyond the end", 1, 0),
    ("a size far beyond the end", LONG, 0),
    ("a size of nothing", None, 0),
    ("a size below any header", None, 9),
    ("a negative size", None, -1),
    ("the largest size", None, 2**31 - 1),
]
MISFITS: list[Breaking] = [
    *(partial(_length, *size, place) for size in _LENGTHS for place in (-1, 1)),
    partial(_checksum, -1),
]


@judges("RECV-005")
@needs_broker(Use.PERSISTENT)
def test_log_is_truncated_at_batch_with_wrong_size_or_crc(
    persistent_broker: PersistentBroker,
) -> None:
    """By its size, in the middle of the log and as its last, or its checksum."""
    logs = EqualLogs(persistent_broker, len(MISFITS))
    logs.damage_while_down(MISFITS)
    with requirement("RECV-005"):
        logs.start_again()
        logs.expect_recovered()


def _await_noted(logs: EqualLogs) -> None:
    """The high watermarks, where the broker notes them: an offset above the recovered end."""
    for partition, before in enumerate(logs.before):
        logs.kept.client.last_seen(
            partial(noted_of, logs.kept, HIGH_WATERMARKS, logs.topic, partition),
            len(before).__eq__,
            NOTED_WITHIN_MS,
        )


@judges("RECV-010")
@needs_broker(Use.PERSISTENT, {"replica.high.watermark.checkpoint.interval.ms": "300"})
def test_produce_after_recovery_continues_at_truncated_log_end(
    persistent_broker: PersistentBroker,
) -> None:
    """Behind logs that lost a part of their last entry, all of it, or got nonsense behind it."""
    breaking: list[Breaking] = [partial(_cut, 0), partial(_cut, CUTS // 2), _last_with_bad_checksum]
    logs = EqualLogs(persistent_broker, len(breaking))
    _await_noted(logs)
    logs.damage_while_down(breaking)
    client = persistent_broker.client
    with requirement("RECV-010") as check:
        logs.start_again()
        for index, (damage, kept) in enumerate(zip(logs.damages, logs.expected, strict=True)):
            with check.subtest(damage.what):
                expected = list(kept)
                for value in (b"first", b"second"):
                    answer = client.produce(logs.topic, batch_of(value), partition=index)
                    expect_error(answer.error_code, ErrorCode.NONE, f"{damage.what}: Produce")
                    told = f"{damage.what}: {value!r} is stored at {answer.base_offset}"
                    assert answer.base_offset == len(expected), f"{told}, not {len(expected)}"
                    expected.append((len(expected), value))
                found = stored(client, logs.topic, index)
                assert found == expected, f"{damage.what}: the log holds {found}, not {expected}"

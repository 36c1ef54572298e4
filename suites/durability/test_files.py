"""STOR, TIME: the files in which a broker keeps its logs."""

from __future__ import annotations

from harness.client.requests import Topic
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.broken_logs import await_back
from suites.durability.support.segments import (
    HOUR_MS,
    SEGMENT_MS,
    append_segments,
    size_of,
    stored_entries,
    timed,
    topic_of_segments,
)
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.codecs import codecs_of
from suites.protocol.support.committed_offsets import commit, entry, fresh_group
from suites.protocol.support.fetching import values_of

SUFFIX, DIGITS = ".log", 20
READERS = 3


def _base_offsets(kept: PersistentBroker, topic: Topic) -> list[str]:
    """The names of the segments of partition 0 without their suffix, in order."""
    folder = kept.partition_folder(topic.name)
    return sorted(file.stem for file in folder.iterdir() if file.suffix == SUFFIX)


def _stored(kept: PersistentBroker, topic: Topic) -> bytes:
    """The bytes of all its segments."""
    folder = kept.partition_folder(topic.name)
    return b"".join((folder / (name + SUFFIX)).read_bytes() for name in _base_offsets(kept, topic))


def _named(*offsets: int) -> list[str]:
    return [f"{offset:0{DIGITS}d}" for offset in offsets]


@judges("STOR-009")
@needs_broker(Use.PERSISTENT)
def test_segment_files_are_named_by_20_digit_base_offset(
    persistent_broker: PersistentBroker,
) -> None:
    """In the folder of topic and partition, with twenty digits."""
    client = persistent_broker.client
    topic = topic_of_segments(client)
    append_segments(client, topic, [[b"r"] * 3, [b"r"] * 8, [b"r"]])
    with requirement("STOR-009"):
        found = _base_offsets(persistent_broker, topic)
        assert found == _named(0, 3, 11), f"segments begin at 0, 3 and 11, the files are {found}"


@judges("STOR-010")
@needs_broker(Use.PERSISTENT)
def test_stored_batches_equal_fetched_bytes(persistent_broker: PersistentBroker) -> None:
    """Byte for byte, compressed or not, with keys, without, and with nothing in them."""
    client = persistent_broker.client
    topic = client.create_topic()
    records = [Record(b"on disk" * 20, b"key"), Record(b"on disk too", None), Record(None, b"key")]
    codecs = codecs_of(client, client.version("Produce"))
    for codec in codecs:
        append(client, topic, encode_batch(RecordBatch(records, base_timestamp=now_ms()), codec))
    with requirement("STOR-010"):
        fetched = b"".join(stored_entries(client, topic, 0, len(records) * len(codecs)))
        stored = _stored(persistent_broker, topic)
        at = next((at for at, pair in enumerate(zip(fetched, stored)) if pair[0] != pair[1]), None)  # noqa: B905  # lengths are told
        told = f"{len(fetched)} bytes are fetched, {len(stored)} are stored, byte {at} differs"
        assert fetched == stored, told


@judges("STOR-011")
@needs_broker(Use.PERSISTENT)
def test_message_is_stored_once_for_several_groups(persistent_broker: PersistentBroker) -> None:
    """However many groups have read it."""
    client = persistent_broker.client
    topic = client.create_topic()
    batch = batch_of(b"once" * 100)
    append(client, topic, batch)
    with requirement("STOR-011"):
        for readers in range(READERS):
            stored, sent = len(_stored(persistent_broker, topic)), size_of(client, batch)
            told = f"read by {readers} groups, {stored} bytes are stored of {sent}"
            assert stored == sent, told
            assert values_of(client.fetch(topic, 0)) == [b"once" * 100], "something else is read"
            commit(client, fresh_group(client, topic), {topic: [entry(1)]})


@judges("TIME-009")
@needs_broker(Use.PERSISTENT)
def test_segment_roll_uses_first_record_timestamp_after_restart(
    persistent_broker: PersistentBroker,
) -> None:
    """Not by when its file was made or the broker was started: a restart changes nothing."""
    client = persistent_broker.client
    topic = topic_of_segments(client)
    first_ms = now_ms() - HOUR_MS
    append(client, topic, timed(first_ms, b"r"))
    for end in (persistent_broker.stop, persistent_broker.kill):
        end()
        persistent_broker.start()
        await_back(client, topic)
    with requirement("TIME-009"):
        append(client, topic, timed(first_ms + SEGMENT_MS, b"r"))
        found = _base_offsets(persistent_broker, topic)
        assert found == _named(0), f"a record that is segment.ms younger: the files are {found}"
        append(client, topic, timed(first_ms + SEGMENT_MS + 1, b"r"))
        found = _base_offsets(persistent_broker, topic)
        assert found == _named(0, 2), f"a millisecond younger still: the files are {found}"

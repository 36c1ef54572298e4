"""Records of Kafka's own topics as plain values: every layout, and what fits none."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from harness.codec.data_framing import (
    COORDINATOR_LOGS,
    METADATA_LOGS,
    OFFSETS,
    read_connect_assignment,
    version_prefixed_bytes,
)
from harness.codec.data_framing.own_topics import (
    own_control_record,
    own_record,
    part_text,
)
from harness.codec.dictionary_form import to_dict
from harness.codec.messages import (
    ConsumerGroupMemberMetadataValue,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    GroupMetadataKey,
    GroupMetadataValue,
    message_class,
    older_releases,
)
from harness.codec.structs import Message
from labs.data_vectors.data_vectors import vector, vector_names
from labs.message_values.values import rich

OFFSETS_TOPIC, METADATA_TOPIC = "__consumer_offsets", "__cluster_metadata"
GROUP_KEY = b"\0\2\0\1g"
NEWEST = "4.4.0"


def _vector_records() -> list[tuple[str, str, str]]:
    """(release, topic, name) of every key with a value that Kafka's classes wrote."""
    of_schema = {
        name: topic for topic, log in COORDINATOR_LOGS.items() for name in log.records.values()
    }
    return [
        (release, of_schema[schema], name)
        for release in (NEWEST, "3.9.2", "3.5.2")
        for name in (one.removesuffix(".key") for one in vector_names(release))
        if (schema := name.rstrip("01234")) in of_schema
        and f"{name}.value" in vector_names(release)
        and f"{name}.key" in vector_names(release)
    ]


@pytest.mark.parametrize(("release", "topic", "name"), _vector_records())
def test_record_of_kafkas_classes_is_shown_by_its_schemas(
    release: str, topic: str, name: str
) -> None:
    own = own_record(topic, vector(f"{name}.key", release), vector(f"{name}.value", release))
    assert own is not None
    assert own.key is not None
    assert own.value is not None
    schema = name.rstrip("01234")
    assert own.key["schema"] == f"{schema}Key"
    assert own.value["schema"] == f"{schema}Value"
    assert COORDINATOR_LOGS[topic].records[own.key["type"]] == schema
    assert json.loads(json.dumps(own.as_dict())) == own.as_dict()


def test_layout_of_older_release_is_found_and_named() -> None:
    name = "ConsumerGroupMemberMetadata"
    data = (vector(f"{name}.key", "3.5.2"), vector(f"{name}.value", "3.5.2"))
    own = own_record(OFFSETS_TOPIC, *data)
    assert own is not None
    assert own.value is not None
    assert own.value["fields"]["group_epoch"] == 3
    assert own.note == "ConsumerGroupMemberMetadataValue as up to release 3.5"
    assert own == own_record(OFFSETS_TOPIC, *data, "3.5.2")._replace(note=own.note)  # type: ignore[union-attr]
    of_newest = own_record(OFFSETS_TOPIC, *data, NEWEST)
    assert of_newest is not None
    assert of_newest.value is None
    assert of_newest.note.startswith("value not read: ConsumerGroupMemberMetadataValue v0: ")


OLDER_VALUES = [
    (topic, name, older)
    for topic, log in COORDINATOR_LOGS.items()
    for name in log.records.values()
    for older in older_releases(f"{name}Value")
]


@pytest.mark.parametrize(("topic", "name", "older"), OLDER_VALUES)
def test_value_of_every_older_layout_is_decoded_with_its_release(
    topic: str, name: str, older: str
) -> None:
    log, cls = COORDINATOR_LOGS[topic], message_class(f"{name}Value", older)
    key = log.key_bytes(rich(message_class(f"{name}Key"), _highest(message_class(f"{name}Key"))))
    for version in cls.message_spec.valid:
        message = rich(cls, version)
        own = own_record(topic, key, log.value_bytes(message, version), older)
        assert own is not None
        assert own.value is not None, own.note
        fields = to_dict(message, version)
        assert own.value == {"schema": cls.__name__, "version": version, "fields": fields}
        assert own_record(topic, key, log.value_bytes(message, version)).value is not None  # type: ignore[union-attr]


def _highest(cls: type[Message]) -> int:
    return cls.message_spec.valid.highest


METADATA_RECORDS = [
    (topic, name, release)
    for topic, log in METADATA_LOGS.items()
    for name in log.records.values()
    for release in (None, *older_releases(name))
    if release != "2.8"
]


@pytest.mark.parametrize(("topic", "name", "release"), METADATA_RECORDS)
def test_metadata_record_of_every_layout_is_decoded(
    topic: str, name: str, release: str | None
) -> None:
    cls = message_class(name, release)
    for version in cls.message_spec.valid:
        message = rich(cls, version)
        raw = METADATA_LOGS[topic].write(message, version, release)
        own = own_record(topic, None, raw, release)
        assert own is not None
        fields = to_dict(message, version)
        assert own.value == {"schema": cls.__name__, "version": version, "fields": fields}
        assert own_record(topic, None, raw).value is not None  # type: ignore[union-attr]


@pytest.mark.parametrize("topic", [METADATA_TOPIC, "@metadata"])
def test_preview_record_of_2_8_needs_no_release(topic: str) -> None:
    own = own_record(topic, None, vector("TopicRecord", "2.8.2"))
    assert own is not None
    assert own.value is not None
    assert own.value["fields"] == {"name": "t", "topic_id": str(UUID(int=1 << 64 | 2))}
    assert own.note == "TopicRecord as up to release 2.8"


@pytest.mark.parametrize(
    ("topic", "key", "value", "note"),
    [
        (OFFSETS_TOPIC, b"\0\x18who", b"\0\0x", "record type 24 is not known"),
        (OFFSETS_TOPIC, b"\0", b"", "key not read: key in __consumer_offsets v-1: version at by"),
        (OFFSETS_TOPIC, b"\0\2\0\5g", b"", "key not read: GroupMetadataKey v0: group at byte 2"),
        (OFFSETS_TOPIC, None, b"", "a record of __consumer_offsets has a key, not null"),
        (OFFSETS_TOPIC, GROUP_KEY, None, "tombstone"),
        (OFFSETS_TOPIC, GROUP_KEY, b"\0\5", "value not read: GroupMetadataValue has versions 0-4"),
        (OFFSETS_TOPIC, GROUP_KEY, b"\0\1\0", "value not read: GroupMetadataValue v1: protocol_ty"),
        (METADATA_TOPIC, None, None, "a record of __cluster_metadata has a value, not null"),
        (METADATA_TOPIC, None, b"", "value not read: metadata record v-1: frame_version at byte 0"),
        (METADATA_TOPIC, b"", b"\1\x7f\0", "record type 127 is not known; a record of __cluster_m"),
        (METADATA_TOPIC, None, b"\1\2\1", "value not read: TopicRecord has versions 0, not 1"),
    ],
)
def test_what_no_schema_fits_is_a_note_and_no_error(
    topic: str, key: bytes | None, value: bytes | None, note: str
) -> None:
    own = own_record(topic, key, value)
    assert own is not None
    assert own.value is None
    assert own.note.startswith(note)


def test_topics_of_clients_are_not_decoded() -> None:
    for topic in ("orders", "__consumer_offsets2", "", None):
        assert own_record(topic, GROUP_KEY, None) is None


def _group(kind: str, subscription: bytes, assignment: bytes) -> tuple[bytes, bytes]:
    member = GroupMetadataValue.MemberMetadata(
        member_id="m", subscription=subscription, assignment=assignment
    )
    value = GroupMetadataValue(protocol_type=kind, members=[member])
    return OFFSETS.key_bytes(GroupMetadataKey(group="g")), OFFSETS.value_bytes(value, 3)


def test_protocol_of_consumers_inside_group_metadata_is_decoded() -> None:
    subscription = ConsumerProtocolSubscription(topics=["t"], generation_id=4)
    given = ConsumerProtocolAssignment.TopicPartition(topic="t", partitions=[0, 2])
    assignment = ConsumerProtocolAssignment(assigned_partitions=[given])
    newer = version_prefixed_bytes(subscription, 3).replace(b"\0\3", b"\0\x09", 1) + b"new"
    for raw, version in ((version_prefixed_bytes(subscription, 2), 2), (newer, 9)):
        own = own_record(
            OFFSETS_TOPIC, *_group("consumer", raw, version_prefixed_bytes(assignment, 1))
        )
        assert own is not None
        assert own.value is not None
        (member,) = own.value["fields"]["members"]
        assert member["subscription"]["schema"] == "ConsumerProtocolSubscription"
        assert member["subscription"]["version"] == version
        assert member["subscription"]["fields"]["topics"] == ["t"]
        (assigned,) = member["assignment"]["fields"]["assigned_partitions"]
        assert assigned == {"topic": "t", "partitions": [0, 2]}
        assert own.note == ""


def test_protocol_of_connect_inside_group_metadata_is_decoded() -> None:
    state, assigned = vector("connect.state1", "3.9.2"), vector("connect.assignment1", "3.9.2")
    own = own_record(OFFSETS_TOPIC, *_group("connect", state, assigned))
    assert own is not None
    assert own.value is not None
    (member,) = own.value["fields"]["members"]
    assert member["subscription"]["schema"] == "ConnectWorkerState"
    wanted = to_dict(read_connect_assignment(assigned).message, 1)
    assert member["assignment"] == {"schema": "ConnectAssignment", "version": 1, "fields": wanted}


@pytest.mark.parametrize(
    ("kind", "data", "note"),
    [
        ("sr", b"{}", "members[0].subscription: bytes of a protocol that is not known"),
        ("consumer", b"\1", "members[0].subscription: ConsumerProtocolSubscription v-1: version"),
        ("consumer", b"", ""),
    ],
)
def test_member_data_of_no_known_protocol_stays_bytes(kind: str, data: bytes, note: str) -> None:
    own = own_record(OFFSETS_TOPIC, *_group(kind, data, b""))
    assert own is not None
    assert own.value is not None
    (member,) = own.value["fields"]["members"]
    assert member["subscription"] == data.hex()
    assert own.note.startswith(note)
    assert bool(own.note) == bool(note)


def test_classic_protocol_of_consumer_group_member_is_decoded() -> None:
    cls = ConsumerGroupMemberMetadataValue
    raw = version_prefixed_bytes(ConsumerProtocolSubscription(topics=["t"]), 1)
    classic = cls.ClassicMemberMetadata(
        supported_protocols=[cls.ClassicProtocol(name="range", metadata=raw)]
    )
    key = vector("ConsumerGroupMemberMetadata.key", "3.5.2")
    value = OFFSETS.value_bytes(cls(classic_member_metadata=classic), 0)
    own = own_record(OFFSETS_TOPIC, key, value)
    assert own is not None
    assert own.value is not None
    (protocol,) = own.value["fields"]["classic_member_metadata"]["supported_protocols"]
    assert protocol["name"] == "range"
    assert protocol["metadata"]["fields"]["topics"] == ["t"]


def test_control_records_of_the_quorum_are_decoded_as_their_release_wrote_them() -> None:
    key, value = (vector(f"LEADER_CHANGE.{one}", "3.9.2") for one in ("key", "value"))
    name, own = own_control_record(METADATA_TOPIC, key, value)
    assert (name, own.key["fields"]) == ("LEADER_CHANGE", {"type": 2})  # type: ignore[index]
    assert own.value["schema"] == "LeaderChangeMessage"  # type: ignore[index]
    key, value = (vector(f"LEADER_CHANGE.{one}", "2.8.2") for one in ("key", "value"))
    name, own = own_control_record("@metadata", key, value)
    assert (name, own.key["fields"]) == ("LEADER_CHANGE", {"type": 3})  # type: ignore[index]
    name, own = own_control_record("orders", b"\0\0\0\x63", b"")
    assert (name, own.value, own.note) == ("UNKNOWN", None, "control type 99 is not known")
    name, own = own_control_record("orders", b"\0", b"")
    assert name.startswith("unreadable: ")


def test_text_of_a_part_is_its_schema_number_and_fields() -> None:
    own = own_record(METADATA_TOPIC, None, vector("metadata.TopicRecord"))
    assert own is not None
    assert own.value is not None
    id_ = UUID(int=1 << 64 | 2)
    assert part_text(own.value) == f'TopicRecord version 0 {{"name": "t", "topic_id": "{id_}"}}'
    own = own_record(OFFSETS_TOPIC, GROUP_KEY, None)
    assert own is not None
    assert own.key is not None
    assert part_text(own.key) == 'GroupMetadataKey type 2 {"group": "g"}'

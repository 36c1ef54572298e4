"""``log dump --records`` of logs of Kafka's own topics, which real brokers wrote."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.codec.data_framing import OFFSETS, UnknownRecord
from harness.codec.records import Record, RecordBatch, encode_batch

LOGS = Path(__file__).parent / "own_topics"
SEGMENT = f"{0:020}.log"
Row = dict[str, Any]

CLASSIC = {"GroupMetadataValue", "OffsetCommitValue"}
WRITTEN: dict[str, set[str]] = {  # what stands in the logs, of the quorum some of it
    "0.10.2.2/__consumer_offsets-0": CLASSIC,
    "2.8.2/__consumer_offsets-0": CLASSIC,
    "2.8.2/__transaction_state-0": {"TransactionLogValue"},
    "2.8.2-kraft/@metadata-0": {
        "LeaderChangeMessage",
        "RegisterBrokerRecord",
        "UnfenceBrokerRecord",
        "TopicRecord",
        "PartitionRecord",
    },
    "3.9.2/__consumer_offsets-0": CLASSIC,
    "3.9.2/__transaction_state-0": {"TransactionLogValue"},
    "3.9.2/__cluster_metadata-0": {"LeaderChangeMessage", "ZkMigrationStateRecord", "ConfigRecord"},
    "4.4.0/__consumer_offsets-0": CLASSIC
    | {
        "ConsumerGroupMetadataValue",
        "ConsumerGroupMemberMetadataValue",
        "ConsumerGroupTargetAssignmentMetadataValue",
        "ConsumerGroupTargetAssignmentMemberValue",
        "ConsumerGroupCurrentMemberAssignmentValue",
        "ShareGroupMetadataValue",
        "ShareGroupMemberMetadataValue",
        "ShareGroupTargetAssignmentMetadataValue",
        "ShareGroupTargetAssignmentMemberValue",
        "ShareGroupCurrentMemberAssignmentValue",
        "ShareGroupStatePartitionMetadataValue",
    },
    "4.4.0/__transaction_state-0": {"TransactionLogValue"},
    "4.4.0/__share_group_state-0": {"ShareSnapshotValue"},
    "4.4.0/__cluster_metadata-0": {
        "SnapshotHeaderRecord",
        "SnapshotFooterRecord",
        "RegisterControllerRecord",
        "ClearElrRecord",
        "PartitionChangeRecord",
    },
}
NOTES = re.compile(r"|tombstone|\w+ as up to release 2\.8")


def dumped(*words: object) -> str:
    ended = CliRunner().invoke(main, ["log", "dump", "--records", *map(str, words)])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def records_of(*words: object) -> list[Row]:
    values = map(json.loads, dumped("--json", *words).splitlines())
    return [value for value in values if value["kind"] == "record"]


@pytest.mark.parametrize("folder", WRITTEN)
def test_every_record_that_a_broker_wrote_is_decoded(folder: str) -> None:
    seen = set()
    for record in records_of(LOGS / folder):
        decoded = record["decoded"]
        note = decoded.get("note", "")
        assert NOTES.fullmatch(note), note
        assert (record["value"] is None) == (note == "tombstone")
        assert (decoded["value"] is None) == (record["value"] is None)
        assert (decoded["key"] is None) == (record["key"] is None)
        if decoded["value"]:
            seen.add(decoded["value"]["schema"])
    wanted = WRITTEN[folder]
    assert seen >= wanted
    assert "metadata-0" in folder or seen == wanted


@pytest.mark.parametrize(
    ("release", "version"), [("0.10.2.2", 1), ("2.8.2", 3), ("3.9.2", 3), ("4.4.0", 3)]
)
def test_consumer_of_group_is_shown_with_subscription_and_assignment(
    release: str, version: int
) -> None:
    values = [
        record["decoded"]["value"] for record in records_of(LOGS / release / "__consumer_offsets-0")
    ]
    (group,) = (
        value
        for value in values
        if value and value["schema"] == "GroupMetadataValue" and value["fields"]["members"]
    )
    assert group["version"] == version
    (member,) = group["fields"]["members"]
    assert member["client_id"] == "reader"
    assert member["subscription"]["fields"]["topics"] == ["orders"]
    assigned = member["assignment"]["fields"]["assigned_partitions"]
    assert assigned == [{"topic": "orders", "partitions": [0]}]


def test_text_has_keys_and_values_by_name_and_no_bytes() -> None:
    text = dumped(LOGS / "4.4.0/__consumer_offsets-0")
    assert 'key: OffsetCommitKey type 1 {"group": "classic-group", "topic": "orders"' in text
    assert 'value: OffsetCommitValue version 4 {"offset": 1, "leader_epoch": 0' in text
    assert '"subscription": {"schema": "ConsumerProtocolSubscription", "version": 3' in text
    assert "value: - headers: [] note: tombstone" in text
    assert "b'" not in text
    text = dumped(LOGS / "4.4.0/__cluster_metadata-0")
    assert 'key: - value: TopicRecord version 0 {"name": "orders", "topic_id": "' in text
    assert "value: LeaderChangeMessage version 0 " in text


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def as_kafka_says(part: Any) -> Any:
    """Our fields with ids as Kafka writes them, and without the bytes that we decode further."""
    if isinstance(part, dict):
        return {name: as_kafka_says(one) for name, one in part.items() if name not in EMBEDDED}
    if isinstance(part, list):
        return [as_kafka_says(one) for one in part]
    if isinstance(part, str) and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", part):
        return base64.urlsafe_b64encode(UUID(part).bytes).decode().rstrip("=")
    return part


def as_we_say(part: Any) -> Any:
    if isinstance(part, dict):
        named = {snake(name): as_we_say(one) for name, one in part.items()}
        return {name: one for name, one in named.items() if name not in EMBEDDED}
    return [as_we_say(one) for one in part] if isinstance(part, list) else part


EMBEDDED = ("subscription", "assignment")
_KAFKAS_LINE = re.compile(r"\| offset: (\d+) .*?(?: key: (\{.*?\}))? payload: (\{.*\})")


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__cluster_metadata"])
def test_fields_are_those_that_dump_log_segments_prints(topic: str) -> None:
    ours = {record["offset"]: record["decoded"] for record in records_of(LOGS / f"3.9.2/{topic}-0")}
    lines = (LOGS / f"3.9.2/{topic}.dumped").read_text("utf-8").splitlines()
    assert len(lines) == len(ours)
    compared = 0
    for line in lines:
        match = _KAFKAS_LINE.fullmatch(line)
        if match is None:
            assert "controlType: " in line
            continue
        own, value = ours[int(match[1])], json.loads(match[3])
        assert own["value"]["version"] == int(value["version"])
        theirs, mine = as_we_say(value["data"]), as_kafka_says(own["value"]["fields"])
        assert {name: mine[name] for name in theirs} == theirs  # tags at their default are left out
        if match[2]:
            key = json.loads(match[2])
            assert (own["key"]["type"], own["key"]["fields"]) == (int(key["type"]), key["data"])
        compared += 1
    assert compared >= 3


def test_segment_elsewhere_is_decoded_with_its_topic(tmp_path: Path) -> None:
    shutil.copy(LOGS / "2.8.2/__consumer_offsets-0" / SEGMENT, tmp_path)
    assert not any("decoded" in record for record in records_of(tmp_path))
    found = records_of("--topic", "__consumer_offsets", tmp_path / SEGMENT)
    wanted = records_of(LOGS / "2.8.2/__consumer_offsets-0")
    assert [one["decoded"] for one in found] == [one["decoded"] for one in wanted]
    wrong = records_of("--topic", "__transaction_state", tmp_path / SEGMENT)
    assert {one["decoded"]["note"] for one in wrong} == {
        "record type 1 is not known",
        "record type 2 is not known",
    }


def test_release_chooses_the_only_layout_that_is_tried() -> None:
    folder = LOGS / "2.8.2-kraft/@metadata-0"
    assert records_of("--release", "2.8", folder) == records_of(folder)
    ended = CliRunner().invoke(main, ["log", "dump", "--release", "new", str(folder)])
    assert ended.exit_code == 2
    assert "new is no release, such as 2.7.2" in ended.output


def test_record_of_unknown_type_is_shown_as_bytes_with_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-7"
    folder.mkdir()
    key = b"\0\x63later"
    assert isinstance(OFFSETS.read_key(key), UnknownRecord)
    batch = RecordBatch(records=[Record(key=key, value=b"\0\0new")])
    (folder / SEGMENT).write_bytes(encode_batch(batch))
    (record,) = records_of(folder)
    assert (bytes.fromhex(record["key"]), bytes.fromhex(record["value"])) == (key, b"\0\0new")
    assert record["decoded"] == {
        "key": None,
        "value": None,
        "note": "record type 99 is not known",
    }
    (line,) = (line for line in dumped(folder).splitlines() if line.startswith("  record "))
    assert line.endswith(
        r"key: b'\x00clater' value: b'\x00\x00new' headers: [] note: record type 99 is not known"
    )


@pytest.mark.parametrize("words", [("--json",), ()])
def test_codec_decode_shows_records_of_a_topic_alike(words: tuple[str, ...]) -> None:
    segment = LOGS / "4.4.0/__share_group_state-0" / SEGMENT
    topic = ("--topic", "__share_group_state")
    asked = ["codec", "decode", "--kind", "records", *topic, *words, str(segment)]
    ended = CliRunner().invoke(main, asked)
    assert ended.exit_code == 0, ended.output
    (wanted,) = records_of(segment.parent)
    if not words:
        assert 'key ShareSnapshotKey type 0 {"group_id": "share-group", ' in ended.stdout
        assert "value ShareSnapshotValue version 0 " in ended.stdout
        return
    (batch,) = json.loads(ended.stdout)
    assert batch["records"][0]["decoded"] == wanted["decoded"]
    again = CliRunner().invoke(main, ["codec", "encode", "--kind", "records", ended.stdout])
    assert bytes.fromhex(again.output) == segment.read_bytes()

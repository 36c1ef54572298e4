"""Registrations and requests of a virtual broker, without a cluster."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.message_codec import decode, encode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.records.run_conversion import down_convert_run
from harness.virtual_broker.partition import offsets_in, read_of, replica_fetch
from harness.virtual_broker.timeline import EXPECTED, STEPS, expected_of
from harness.virtual_broker.zookeeper import registration_like

TOPIC = Topic("t", UUID(int=7))
HERE = ("127.0.0.1", 4242)
REGISTRATIONS: list[dict[str, Any]] = [
    {"version": 1, "host": "127.0.0.1", "port": 9092, "jmx_port": 9999, "timestamp": "1"},
    {"version": 2, "host": "h", "port": 1, "jmx_port": -1, "timestamp": "1",
     "endpoints": ["PLAINTEXT://h:1"]},
    {"version": 5, "host": None, "port": -1, "jmx_port": -1, "timestamp": "1", "rack": "r1",
     "endpoints": ["INTERNAL://h:1", "CLIENT://h:2"], "features": {},
     "listener_security_protocol_map": {"INTERNAL": "PLAINTEXT", "CLIENT": "PLAINTEXT"}},
]  # fmt: skip


@pytest.mark.parametrize("other", REGISTRATIONS, ids=["0.8", "0.9", "3.9"])
def test_registration_has_fields_of_existing_broker(other: dict[str, Any]) -> None:
    made = registration_like(other, HERE, "r9")
    assert made.keys() == other.keys()
    assert (made["host"], made["port"], made["jmx_port"]) == (*HERE, -1)
    assert made["timestamp"] != other["timestamp"]
    assert made["version"] == other["version"]
    assert made.get("rack") == ("r9" if "rack" in other else None)
    if "endpoints" in other:
        names = [each.split(":")[0] for each in other["endpoints"]]
        assert made["endpoints"] == [f"{name}://127.0.0.1:4242" for name in names]
    assert made.get("listener_security_protocol_map") == other.get("listener_security_protocol_map")


@pytest.mark.parametrize("version", range(19))
def test_fetch_carries_replica_id_at_every_version(version: int) -> None:
    epoch = 3 if version >= 12 else -1
    request = replica_fetch(
        TOPIC, version, 5, replica=101, broker_epoch=77, last_fetched_epoch=epoch
    )
    read = decode(FetchRequest, version, encode(request, version))
    assert isinstance(read, FetchRequest)
    if version >= 15:
        assert (read.replica_state.replica_id, read.replica_state.replica_epoch) == (101, 77)
    else:
        assert read.replica_id == 101
    topic = read.topics[0]
    assert (topic.topic_id == TOPIC.id) if version >= 13 else (topic.topic == "t")
    wanted = topic.partitions[0]
    assert (wanted.fetch_offset, wanted.current_leader_epoch) == (5, -1)
    assert wanted.last_fetched_epoch == epoch


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_offsets_are_read_from_records_of_every_format(magic: int) -> None:
    batch = RecordBatch([Record(b"a"), Record(b"b")], base_offset=3, base_timestamp=0)
    data = encode_batch(batch)
    if magic < 2:
        data = bytes(down_convert_run(data, magic, limit_bytes=1 << 20) or b"")
    assert offsets_in(data) == (3, 4)
    assert offsets_in(data[:-1]) == ((3,) if magic < 2 else ())


def test_fetch_with_top_level_error_raises_preparation_failed() -> None:
    with pytest.raises(PreparationFailed, match="UNKNOWN_TOPIC_ID"):
        read_of(FetchResponse(error_code=100))


def test_expected_timeline_rows_match_steps() -> None:
    assert [row.step for row in EXPECTED] == [step.name for step in STEPS]
    assert expected_of("4.4.0") == EXPECTED
    assert [row.told for row in expected_of("0.8.0")][5:] == [
        (0, 3),
        (0, 3),
        (3, 3),
        (3, 3),
        (3, 3),
    ]
    assert expected_of("0.8.0")[:5] == EXPECTED[:5]

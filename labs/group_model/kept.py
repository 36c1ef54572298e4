"""Records of a group that one broker's coordinator has written into its topic, in normal form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.client.connection import Connection
from harness.codec.data_framing.coordinator_records import OFFSETS, CoordinatorRecord
from harness.codec.dictionary_form import to_dict
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.codec.records import Record, decode_batches
from labs.group_model.names import MEMBER, MemberNames

_FETCH_VERSION = 4  # names topics, and is served since 0.11
_MOST_BYTES = 1 << 24
_TIMES = {"commit_timestamp", "current_state_timestamp", "expire_timestamp"}
_IDS = {MEMBER: MEMBER, "leader": MEMBER, "topic_id": "topic_id"}
_PLACES = {"client_host"}  # an address as this broker sees it


class KeptRecords:
    """The records that are written from now on; there is one partition, see ``servers``."""

    def __init__(self, connection: Connection, group_id: str) -> None:
        self._connection, self._group_id = connection, group_id
        self._next = _read(connection, 0).high_watermark
        self._records: list[CoordinatorRecord] = []

    def look(self, names: MemberNames) -> list[dict[str, Any]]:
        """All of this group's records so far."""
        for record in self._new():
            assert record.key is not None
            found = OFFSETS.read_record(record.key, record.value)
            if getattr(found.key, "group", None) == self._group_id:
                self._records.append(found)
        return [_form(record, names) for record in self._records]

    def _new(self) -> Iterator[Record]:
        while data := _read(self._connection, self._next).records:
            for batch in decode_batches(data):
                for delta, record in enumerate(batch.records):
                    if batch.base_offset + delta >= self._next:
                        yield record
                self._next = batch.base_offset + len(batch.records)


def _read(connection: Connection, offset: int) -> FetchResponse.PartitionData:
    part = FetchRequest.FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=_MOST_BYTES
    )
    topic = FetchRequest.FetchTopic(topic=OFFSETS.topic, partitions=[part])
    request = FetchRequest(replica_id=-1, max_wait_ms=0, max_bytes=_MOST_BYTES, topics=[topic])
    (partition,) = connection.ask(request, _FETCH_VERSION).responses[0].partitions
    assert partition.error_code == ErrorCode.NONE, ErrorCode.describe(partition.error_code)
    return partition


def _form(record: CoordinatorRecord, names: MemberNames) -> dict[str, Any]:
    key = record.key
    told = {"is": type(key).__name__, "partition": getattr(key, "partition", None)}
    value = record.value
    if value is not None:
        told["version"] = record.value_version
        told["value"] = _normal(to_dict(value, record.value_version), names)
    return told


def _normal(value: Any, names: MemberNames) -> Any:
    if isinstance(value, Mapping):
        return {
            name: names.symbol_of(_IDS[name], inner) if name in _IDS and inner
            else inner > 0 if name in _TIMES
            else _normal(inner, names)
            for name, inner in value.items()
            if name not in _PLACES
        }  # fmt: skip
    if isinstance(value, list):
        return sorted((_normal(each, names) for each in value), key=str)
    return value

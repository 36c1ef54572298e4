"""Every answer of a scenario with a cluster, as observations of its partitions.

They come from what the clients of a test receive anyway; nothing is asked for them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from harness.client.requests import LATEST
from harness.client.wire_coverage import Observer
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteTopicsRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataResponse,
)
from harness.codec.records.any_format import read_records
from harness.codec.structs import Message
from harness.histories.cluster import check_cluster
from harness.histories.replication import UNKNOWN, Observation, ReplicationFinding, Violation

KEPT_OBSERVATIONS: Final = 100_000
_LIMIT_BYTES: Final = 64 * 1024 * 1024
PROMISES: Final = {
    Violation.TWO_LEADERS: "REPL-022",
    Violation.EPOCH_FELL: "META-021",
    Violation.ISR_WITHOUT_LEADER: "ISR-008",
    Violation.ISR_OF_STRANGERS: "META-013",
    Violation.WATERMARK_FELL: "FETCH-003",
}
"""The requirement that each finding violates."""
NOT_WITH_ZOOKEEPER: Final = frozenset({Violation.ISR_OF_STRANGERS})
"""True there for a moment when a reassignment ends: replicas and ISR are written one by one."""


class ClusterWatch:
    """The observations of one test; of very many, the last ones."""

    def __init__(self) -> None:
        self._seen: deque[Observation] = deque(maxlen=KEPT_OBSERVATIONS)
        self._began_s = time.monotonic()
        self._deleted: set[str] = set()

    def at(self, node: int, client: str) -> Observer:
        """Return the observer of one client to this node; it needs each message, in order."""
        return _WatchedClient(node, client, self._see, self._deleted)

    def _see(self, node: int, client: str, partition: str, **told: Any) -> None:
        at_ms = (time.monotonic() - self._began_s) * 1000
        what = f"{partition} by {node} after {at_ms:.0f} ms"
        self._seen.append(
            Observation(what, at_ms, node=node, client=client, partition=partition, **told)
        )

    def broken(self, *, with_zookeeper: bool = False) -> dict[str, str]:
        """Return the first finding of each violated requirement, by requirement."""
        passed_over = NOT_WITH_ZOOKEEPER if with_zookeeper else frozenset()
        found: dict[str, ReplicationFinding] = {}
        for finding in check_cluster(list(self._seen)):
            if finding.broken not in passed_over:
                found.setdefault(PROMISES[finding.broken], finding)
        return {name: str(finding) for name, finding in found.items()}


class _WatchedClient:
    """The observer of one client: its last request gives the meaning of the next response.

    Topics are distinguished by their ids, or by name where there are none. A deleted name may be
    another topic afterwards, so it is not observed any more.
    """

    def __init__(self, node: int, client: str, see: Callable[..., None], deleted: set[str]) -> None:
        self._node, self._client, self._to = node, client, see
        self._deleted = deleted
        self._ids: dict[str, UUID] = {}
        self._asks_latest = False

    def __call__(self, message: Message, version: int) -> None:
        take = _TAKEN.get(type(message))
        if take is not None:
            take(self, message, version)

    def _see(self, name: str, topic_id: UUID, index: int, **told: Any) -> None:
        known = topic_id if topic_id != ZERO_UUID else self._ids.get(name, ZERO_UUID)
        if known == ZERO_UUID and (not name or name in self._deleted):
            return
        called = name if known == ZERO_UUID else str(known)
        self._to(self._node, self._client, f"{called}-{index}", **told)

    def take_deletion(self, message: DeleteTopicsRequest, version: int) -> None:
        del version
        self._deleted.update(message.topic_names)
        self._deleted.update(topic.name for topic in message.topics if topic.name)

    def take_metadata(self, message: MetadataResponse, version: int) -> None:
        del version
        for topic in message.topics:
            if topic.error_code != ErrorCode.NONE or topic.name is None:
                continue
            if topic.topic_id != ZERO_UUID:
                self._ids[topic.name] = topic.topic_id
            for each in topic.partitions:
                if each.error_code == ErrorCode.NONE:
                    self._see(
                        topic.name,
                        topic.topic_id,
                        each.partition_index,
                        leader=each.leader_id,
                        leader_epoch=each.leader_epoch,
                        isr=tuple(each.isr_nodes),
                        replicas=tuple(each.replica_nodes),
                    )

    def take_fetch(self, message: FetchResponse, version: int) -> None:
        del version
        for topic in message.responses:
            for each in topic.partitions:
                if each.error_code == ErrorCode.NONE:
                    self._see(
                        topic.topic,
                        topic.topic_id,
                        each.partition_index,
                        high_watermark=each.high_watermark,
                        last_stable_offset=each.last_stable_offset,
                        log_start_offset=each.log_start_offset,
                        read_to=_end_of(each.records),
                    )

    def take_question(self, message: ListOffsetsRequest, version: int) -> None:
        del version
        asked = [each for topic in message.topics for each in topic.partitions]
        self._asks_latest = message.isolation_level == 0 and all(
            each.timestamp == LATEST for each in asked
        )

    def take_offsets(self, message: ListOffsetsResponse, version: int) -> None:
        if version == 0 or not self._asks_latest:
            return
        for topic in message.topics:
            for each in topic.partitions:
                if each.error_code == ErrorCode.NONE:
                    index, told = each.partition_index, each.offset
                    self._see(topic.name, ZERO_UUID, index, high_watermark=told)


_TAKEN: Final[dict[type[Message], Callable[[_WatchedClient, Any, int], None]]] = {
    DeleteTopicsRequest: _WatchedClient.take_deletion,
    FetchResponse: _WatchedClient.take_fetch,
    ListOffsetsRequest: _WatchedClient.take_question,
    ListOffsetsResponse: _WatchedClient.take_offsets,
    MetadataResponse: _WatchedClient.take_metadata,
}


def _end_of(records: object) -> int:
    """Return one more than the last offset; -1 without records."""
    found = read_records(bytes(records or b""), limit_bytes=_LIMIT_BYTES)  # type: ignore[call-overload]
    offsets = [record.offset for batch in found.batches for record in batch.records]
    return max(offsets) + 1 if offsets else UNKNOWN


def both(first: Observer, second: Observer) -> Observer:
    """Return an observer that calls ``first``, then ``second``."""

    def observe(message: Message, version: int) -> None:
        first(message, version)
        second(message, version)

    return observe

"""Offsets that a transactional producer commits for a group (KIP-98, KIP-447)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.broker import PreparationFailed
from harness.client.preparing import preparing
from harness.client.requests import Topic
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddOffsetsToTxnRequest,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from suites.protocol.support.committed_offsets import (
    Committer,
    GroupOffsets,
    Place,
    fetch_offsets,
)
from suites.protocol.support.transactional import TxnProducer

BY_ID = 6  # of TxnOffsetCommit: topics by id
FIRST_IMPLICIT = 5  # of TxnOffsetCommit: it adds the group to the transaction (KIP-890)
Offset = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition


def pending(offset: int, metadata: str | None = "", partition: int = 0) -> Offset:
    """An offset to commit with the transaction."""
    return Offset(partition_index=partition, committed_offset=offset, committed_metadata=metadata)


def add_offsets(producer: TxnProducer, group: str, version: int | None = None) -> int:
    """The error of AddOffsetsToTxn, which adds the group to the transaction."""
    version = producer.broker.version("AddOffsetsToTxn") if version is None else version
    request = AddOffsetsToTxnRequest(
        transactional_id=producer.name,
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        group_id=group,
    )
    return producer.patiently(request, version, lambda answer: [answer.error_code]).error_code


def commit_pending(
    producer: TxnProducer,
    group: str,
    entries: Mapping[Topic, Sequence[Offset]],
    version: int,
    by: Committer | None = None,
    instance_id: str | None = None,
) -> dict[Place, int]:
    """The error of each partition in the answer to TxnOffsetCommit."""
    by = by or Committer()
    request = TxnOffsetCommitRequest(
        transactional_id=producer.name,
        group_id=group,
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        generation_id_or_member_epoch=by.generation,
        member_id=by.member_id,
        group_instance_id=instance_id,
        topics=[
            TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic(
                name="" if version >= BY_ID else topic.name,
                topic_id=topic.id if version >= BY_ID else ZERO_UUID,
                partitions=list(partitions),
            )
            for topic, partitions in entries.items()
        ],
    )
    names = {topic.id: topic.name for topic in entries}

    def codes(answer: TxnOffsetCommitResponse) -> dict[Place, int]:
        return {
            (
                names.get(topic.topic_id, str(topic.topic_id)) if version >= BY_ID else topic.name,
                one.partition_index,
            ): one.error_code
            for topic in answer.topics
            for one in topic.partitions
        }

    return codes(producer.patiently(request, version, lambda answer: codes(answer).values()))


def make_pending(
    producer: TxnProducer,
    group: str,
    entries: Mapping[Topic, Sequence[Offset]],
    version: int | None = None,
) -> None:
    """Preparation: commit these offsets with the transaction of the producer."""
    version = producer.version("TxnOffsetCommit") if version is None else version
    with preparing("TxnOffsetCommit"):
        if version < FIRST_IMPLICIT:
            code = add_offsets(producer, group)
            if code != ErrorCode.NONE:
                raise PreparationFailed(f"AddOffsetsToTxn: {ErrorCode.describe(code)}", code)
        for place, code in commit_pending(producer, group, entries, version).items():
            if code != ErrorCode.NONE:
                told = f"TxnOffsetCommit {place}: {ErrorCode.describe(code)}"
                raise PreparationFailed(told, code)


def offsets_once(
    producer: TxnProducer, group: str, topic: Topic, expected: Mapping[int, int]
) -> GroupOffsets:
    """The offsets of a group as soon as the partitions have these; the last ones seen.

    Coordinators make the offsets of a transaction visible some time after their marker is written.
    """

    def is_right(found: GroupOffsets) -> bool:
        places = {at: found.partitions.get((topic.name, at)) for at in expected}
        offsets = {at: one.committed_offset for at, one in places.items() if one is not None}
        return offsets == expected

    return producer.broker.last_seen(
        lambda: fetch_offsets(producer.broker, group, {topic: list(expected)}), is_right
    )


def end_and_settle(producer: TxnProducer, *, commit: bool) -> None:
    """Preparation: end the transaction; a new producer of the id then finds it complete."""
    producer.finish(commit=commit)
    with preparing("InitProducerId"):
        answer = producer.init()
    if answer.error_code != ErrorCode.NONE:
        code = answer.error_code
        raise PreparationFailed(f"InitProducerId: {ErrorCode.describe(code)}", code)
    producer.take(answer)

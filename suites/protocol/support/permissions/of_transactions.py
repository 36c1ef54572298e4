"""Requests of the permission matrix that name transactional ids, or producers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.client.requests import produce_request
from harness.codec.messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    DescribeTransactionsRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ListTransactionsRequest,
    ProduceRequest,
    TxnOffsetCommitRequest,
    WriteTxnMarkersRequest,
)
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from suites.protocol.support.appended import now_ms
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.of_groups import find_coordinator
from suites.protocol.support.permissions.scene import Scene
from suites.protocol.support.transactional import FIRST_OF_SEVERAL

PRODUCER_ID, EPOCH = 1 << 40, 0
"""Of no producer."""
NO_PARTITION = 99
FIRST_COMMIT_BY_ID = 6
TIMEOUT_MS = 60_000


def _find(scene: Scene, version: int) -> FindCoordinatorRequest:
    return find_coordinator(scene.transactional_id, 1, version)


def _init(_: Scene, __: int) -> InitProducerIdRequest:
    return InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=TIMEOUT_MS)


def _init_transactional(scene: Scene, _: int) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=scene.transactional_id, transaction_timeout_ms=TIMEOUT_MS
    )


def _init_with_two_phases(scene: Scene, version: int) -> InitProducerIdRequest:
    request = _init_transactional(scene, version)
    request.enable2_pc = True
    return request


def _produce(scene: Scene, version: int) -> ProduceRequest:
    batch = RecordBatch(
        [Record(b"in a transaction")],
        base_timestamp=now_ms(),
        attributes=TRANSACTIONAL,
        producer_id=PRODUCER_ID,
        producer_epoch=EPOCH,
        base_sequence=0,
    )
    request = produce_request(scene.topic, encode_batch(batch), version)
    request.transactional_id = scene.transactional_id
    return request


def _add_partitions(scene: Scene, version: int) -> AddPartitionsToTxnRequest:
    named = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=scene.topic.name, partitions=[0])
    if version < FIRST_OF_SEVERAL:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=scene.transactional_id,
            v3_and_below_producer_id=PRODUCER_ID,
            v3_and_below_producer_epoch=EPOCH,
            v3_and_below_topics=[named],
        )
    one = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction(
        transactional_id=scene.transactional_id,
        producer_id=PRODUCER_ID,
        producer_epoch=EPOCH,
        verify_only=False,
        topics=[named],
    )
    return AddPartitionsToTxnRequest(transactions=[one])


def _add_offsets(scene: Scene, _: int) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=scene.transactional_id,
        producer_id=PRODUCER_ID,
        producer_epoch=EPOCH,
        group_id=scene.group,
    )


def _commit_offsets(scene: Scene, version: int) -> TxnOffsetCommitRequest:
    partition = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=""
    )
    named = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic(partitions=[partition])
    if version >= FIRST_COMMIT_BY_ID:
        named.topic_id = scene.topic.id
    else:
        named.name = scene.topic.name
    return TxnOffsetCommitRequest(
        transactional_id=scene.transactional_id,
        group_id=scene.group,
        producer_id=PRODUCER_ID,
        producer_epoch=EPOCH,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[named],
    )


def _end(scene: Scene, _: int) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=scene.transactional_id,
        producer_id=PRODUCER_ID,
        producer_epoch=EPOCH,
        committed=True,
    )


def _describe(scene: Scene, _: int) -> DescribeTransactionsRequest:
    return DescribeTransactionsRequest(transactional_ids=[scene.transactional_id])


def _list(_: Scene, __: int) -> ListTransactionsRequest:
    return ListTransactionsRequest()


def _write_markers(scene: Scene, _: int) -> WriteTxnMarkersRequest:
    named = WriteTxnMarkersRequest.WritableTxnMarkerTopic(
        name=scene.topic.name, partition_indexes=[NO_PARTITION]
    )
    marker = WriteTxnMarkersRequest.WritableTxnMarker(
        producer_id=PRODUCER_ID,
        producer_epoch=EPOCH,
        transaction_result=False,
        topics=[named],
        coordinator_epoch=0,
    )
    return WriteTxnMarkersRequest(markers=[marker])


ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        "FindCoordinator/transaction": Asked(_find),
        "InitProducerId": Asked(_init),
        "InitProducerId/transactional": Asked(_init_transactional),
        "InitProducerId/two_phases": Asked(_init_with_two_phases),
        "Produce/transactional": Asked(_produce, lambda scene: scene.topic),
        "AddPartitionsToTxn": Asked(_add_partitions, lambda scene: scene.topic),
        "AddOffsetsToTxn": Asked(_add_offsets),
        "TxnOffsetCommit": Asked(_commit_offsets, lambda scene: scene.topic),
        "EndTxn": Asked(_end),
        "DescribeTransactions": Asked(
            _describe, Scene.open_transaction, secret="transaction_states.topics"
        ),
        "ListTransactions": Asked(_list, Scene.open_transaction),
        "WriteTxnMarkers": Asked(_write_markers, lambda scene: scene.topic),
        "WriteTxnMarkers/alter": Asked(_write_markers, lambda scene: scene.topic),
    }
)
"""By the form of the row."""

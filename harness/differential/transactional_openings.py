"""Beginnings of conversations about transactions, and the APIs that these are drawn from."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness.differential.batches import in_transaction
from harness.differential.openings import COMMITTED, TOPIC, Opening, Request, produced
from harness.differential.transactional_pools import producer

ENDING = "EndTxn"
"""Without it a conversation has no transactions of its own."""
TRANSACTIONAL_WEIGHTS: Mapping[str, int] = {
    "Produce": 8, "AddPartitionsToTxn": 6, "Fetch": 6, "EndTxn": 6, "InitProducerId": 4,
    "TxnOffsetCommit": 4, "AddOffsetsToTxn": 3, "OffsetFetch": 3, "ListOffsets": 2,
    "DescribeTransactions": 2, "DescribeProducers": 2, "ListTransactions": 1, "WriteTxnMarkers": 1,
    "FindCoordinator": 1, "DeleteRecords": 1,
}  # fmt: skip
"""The APIs of a conversation about transactions, and how often each is drawn."""
_ALONE_SHARE, _AMONG_ALL_SHARE = 0.9, 0.15


def transactional_share(shared: Collection[str], only: Collection[str]) -> float:
    """The share of conversations about transactions. ``only``: as in ``conversations``."""
    if ENDING not in shared or (only and ENDING not in only):
        return 0.0
    return _ALONE_SHARE if only else _AMONG_ALL_SHARE


def _begun(id_: str) -> Request:
    first = {"transactional_id": id_, "producer_id": -1, "producer_epoch": -1}
    return "InitProducerId", {**first, "transaction_timeout_ms": 60_000}


def _added(id_: str, number: int) -> Request:
    topics = [{"name": "$name-a", "partitions": [0, 1]}]
    newer = {**producer(id_, number), "verify_only": False, "topics": topics}
    older = producer(id_, number, "v3_and_below_")
    return "AddPartitionsToTxn", {
        "transactions": [newer], **older, "v3_and_below_topics": topics,
    }  # fmt: skip


def _written(id_: str, number: int) -> Request:
    api, fields = produced(**in_transaction(number, 0))
    return api, {**fields, "transactional_id": id_}


def _ended(*, commit: bool) -> Request:
    return "EndTxn", {**producer("$name-x", 0), "committed": commit}


_X, _Y = _begun("$name-x"), _begun("$name-y")
_OPEN = (TOPIC, _X, _added("$name-x", 0), _written("$name-x", 0))
_OFFSETS: tuple[Request, ...] = (
    ("AddOffsetsToTxn", {**producer("$name-x", 0), "group_id": "$name-g"}),
    ("TxnOffsetCommit", {**producer("$name-x", 0), "group_id": "$name-g", "member_id": "",
                         "generation_id_or_member_epoch": -1, "topics": [COMMITTED]}),
)  # fmt: skip
TRANSACTIONAL_OPENINGS = (
    Opening(1, (TOPIC,)),
    Opening(2, (TOPIC, _X)),
    Opening(4, _OPEN),
    Opening(2, (*_OPEN, _ended(commit=True))),
    Opening(2, (*_OPEN, _ended(commit=False))),
    Opening(1, (*_OPEN, _ended(commit=False), _added("$name-x", 0), _written("$name-x", 0))),
    Opening(3, (TOPIC, _X, *_OFFSETS)),
    Opening(1, (TOPIC, _X, *_OFFSETS, _ended(commit=True))),
    Opening(1, (TOPIC, _X, *_OFFSETS, _ended(commit=False))),
    Opening(2, (*_OPEN, _Y, _added("$name-y", 1), _written("$name-y", 1))),
    Opening(1, (*_OPEN, _X, _X)),  # the first aborts, the second comes when that is done
)

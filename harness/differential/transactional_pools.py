"""Values of fields in conversations about transactions, before those of every conversation.

Two transactional ids: ``$name-x`` got ``$producer_id:0`` in the opening, ``$name-y`` mostly
``$producer_id:1``. The fields that name a producer are drawn together: by chance alone few
requests would name one that the coordinator knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.differential.pools import Pool
from harness.differential.symbols import NOBODYS_NUMBER

ID_FIELD, PRODUCER_FIELD, EPOCH_FIELD = "transactional_id", "producer_id", "producer_epoch"
_A_DAY_MS = 86_400_000


def producer(id_: str | None, number: int, prefix: str = "", **change: Any) -> dict[str, Any]:
    """Fields that name a transactional id, its producer and the newest epoch."""
    named = {ID_FIELD: id_, PRODUCER_FIELD: f"$producer_id:{number}",
             EPOCH_FIELD: f"$producer_epoch:{number}", **change}  # fmt: skip
    return {prefix + name: value for name, value in named.items()}


def _producers(prefix: str = "") -> Pool:
    x, y = "$name-x", "$name-y"
    good = (*(producer(x, 0, prefix),) * 4, producer(y, 1, prefix))
    old = (producer(x, 0, prefix, producer_epoch=epoch) for epoch in (0, 1, 2, -1, 99))
    others = (
        producer(x, 1, prefix),
        producer(y, 0, prefix),
        producer(x, 0, prefix, producer_id=NOBODYS_NUMBER),
        producer(x, 0, prefix, producer_id=-1),
        producer("", 0, prefix),
        producer("$name-nobody", 0, prefix),
    )
    return Pool(good, (*old, *others))


def _committing() -> Pool:
    """Producers of offsets, and the members of a group that they commit for (KIP-447)."""
    alone = {"generation_id_or_member_epoch": -1, "member_id": "", "group_instance_id": None}
    members = (
        {**alone, "generation_id_or_member_epoch": 1, "member_id": "$name-nobody"},
        {**alone, "generation_id_or_member_epoch": 7},
        {**alone, "member_id": "$name-nobody"},
        {**alone, "group_instance_id": "$name-i"},
    )
    named = _producers()
    wrong = (*({**one, **alone} for one in named.edge), *({**named.good[0], **m} for m in members))
    return Pool(tuple({**one, **alone} for one in named.good), wrong)


def _first(id_: str | None) -> dict[str, Any]:
    return {ID_FIELD: id_, PRODUCER_FIELD: -1, EPOCH_FIELD: -1}


def _marker(number: int, **change: Any) -> dict[str, Any]:
    return {PRODUCER_FIELD: f"$producer_id:{number}", EPOCH_FIELD: f"$producer_epoch:{number}",
            "coordinator_epoch": 0, **change}  # fmt: skip


TRANSACTIONAL_JOINT: Mapping[str, Pool] = {
    "InitProducerId": Pool(
        (*(_first("$name-x"),) * 3, _first("$name-y"), producer("$name-x", 0)),
        (
            *(_first(id_) for id_ in (None, "", "$name-z")),
            *(producer("$name-x", 0, producer_epoch=epoch) for epoch in (0, 1, -1)),
            *(producer("$name-x", 0, producer_id=id_) for id_ in (NOBODYS_NUMBER, -1)),
            producer("$name-y", 0),
            producer("$name-z", 1),
        ),
    ),
    "AddPartitionsToTxn.transactions": _producers(),
    "AddPartitionsToTxn": _producers("v3_and_below_"),
    "AddOffsetsToTxn": _producers(),
    "EndTxn": _producers(),
    "TxnOffsetCommit": _committing(),
    "Produce": Pool(
        (*({ID_FIELD: "$name-x"},) * 4, {ID_FIELD: None}),
        tuple({ID_FIELD: id_} for id_ in ("$name-y", "$name-nobody", "", None)),
    ),
    # A higher epoch of the coordinator would end all its later markers in the partition.
    "WriteTxnMarkers.markers": Pool(
        tuple(_marker(number) for number in (0, 0, 1)),
        (
            *(_marker(0, producer_epoch=epoch) for epoch in (0, 1, -1)),
            _marker(0, coordinator_epoch=-1),
            _marker(0, producer_id=NOBODYS_NUMBER),
        ),
    ),
}
"""Fields of one struct that are drawn together."""

TRANSACTIONAL_POOLS: Mapping[str, Pool] = {
    "DescribeTransactions.transactional_ids": Pool(
        ("$name-x", "$name-x", "$name-y"), ("", "$name-nobody")
    ),
    "ListTransactions.state_filters": Pool(
        ("Ongoing", "CompleteCommit", "CompleteAbort", "Empty"), ("nonsense", "", "PrepareCommit")
    ),
    "ListTransactions.producer_id_filters": Pool(("$producer_id:0",), (-1, NOBODYS_NUMBER)),
    # A short duration is a race against the next step.
    "ListTransactions.duration_filter": Pool((-1, -1, _A_DAY_MS), (-2,)),
    "ListTransactions.transactional_id_pattern": Pool((None, ".*", "$name-x"), ("[", "", "nobody")),
    "*.verify_only": Pool((False, False, True)),
    "*.committed": Pool((True, False)),
    "FindCoordinator.key": Pool(("$name-x", "$name-y")),
    "*.coordinator_keys": Pool(("$name-x", "$name-y")),
    "*.key_type": Pool((1,), (0,)),
    "*.isolation_level": Pool((1, 1, 0), (2, -1)),
    "OffsetFetch*.require_stable": Pool((True, False)),
    "WriteTxnMarkers.markers.transaction_version": Pool((0, 2), (1,)),
}

"""Awaited ends of transactions, at brokers of different age."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.codec.error_code import ErrorCode
from harness.differential.ended_transactions import EndedTransactions

NONE, CONCURRENT = int(ErrorCode.NONE), int(ErrorCode.CONCURRENT_TRANSACTIONS)
UNSTABLE = int(ErrorCode.UNSTABLE_OFFSET_COMMIT)
END = {"transactional_id": "x", "producer_id": 7, "producer_epoch": 0, "committed": True}
FIRST = {"transactional_id": "x", "producer_id": -1, "producer_epoch": -1}
GIVEN = {"error_code": NONE, "producer_id": 7, "producer_epoch": 4}
OFFSETS = {
    "transactional_id": "x",
    "group_id": "g",
    "topics": [{"name": "t", "partitions": [{"partition_index": 0, "committed_offset": 5}]}],
}
STORED = {"topics": [{"name": "t", "partitions": [{"partition_index": 0, "error_code": NONE}]}]}


class Broker:
    """Gives these answers by API and version; None where it does not serve an API."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = {name: iter(given) for name, given in answers.items()}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.transactions = EndedTransactions(self.ask, self.until)

    def ask(self, api: str, lowest: int, _highest: int, fields: Any) -> Any:
        given: Iterator[Any] | None = self.answers.get(f"{api}_{lowest}")
        if given is None:
            return None
        self.asked.append((api, dict(fields)))
        return next(given)

    def until(self, holds: Callable[[], bool], _limit_s: float) -> bool:
        while not holds():
            pass
        return True

    def is_done(self) -> bool:
        return not any([*given] for given in self.answers.values())


def states(*names: str) -> list[Any]:
    return [{"transaction_states": [{"transaction_state": name}]} for name in names]


def shown(*codes_and_offsets: tuple[int, int]) -> list[Any]:
    return [
        {"topics": [{"partitions": [{"error_code": code, "committed_offset": offset}]}]}
        for code, offset in codes_and_offsets
    ]


def codes(*errors: int) -> list[Any]:
    return [{"error_code": error} for error in errors]


@pytest.mark.parametrize(("api", "fields"), [("EndTxn", END), ("InitProducerId", FIRST)])
def test_state_is_described_until_it_is_decided(api: str, fields: dict[str, Any]) -> None:
    broker = Broker(DescribeTransactions_0=states("PrepareCommit", "PrepareAbort", "Empty"))
    broker.transactions.after(api, fields, {"error_code": NONE})
    assert broker.is_done()


def test_before_3_0_the_end_is_repeated_until_it_is_taken() -> None:
    broker = Broker(EndTxn_0=codes(CONCURRENT, CONCURRENT, NONE))
    broker.transactions.after("EndTxn", END, {"error_code": NONE})
    assert broker.is_done()
    assert broker.asked == [("EndTxn", END)] * 3


def test_before_3_0_the_abort_of_a_former_producer_is_awaited_by_the_raised_epoch() -> None:
    """An initialization that succeeds leaves nothing to wait for."""
    broker = Broker(EndTxn_0=codes(CONCURRENT, NONE))
    broker.transactions.after("InitProducerId", FIRST, GIVEN)
    assert not broker.asked
    broker.transactions.after("InitProducerId", FIRST, {"error_code": CONCURRENT})
    assert broker.is_done()
    again = {**END, "producer_epoch": 5, "committed": False}
    assert broker.asked == [("EndTxn", again)] * 2


@pytest.mark.parametrize(
    ("commits", "answers"),
    [(True, [(UNSTABLE, -1), (NONE, 3), (NONE, 5)]), (False, [(UNSTABLE, -1), (NONE, 3)])],
)
def test_offsets_are_awaited_until_the_group_has_taken_them_in(
    commits: bool, answers: list[tuple[int, int]]
) -> None:
    broker = Broker(DescribeTransactions_0=states("Empty"), OffsetFetch_7=shown(*answers))
    broker.transactions.after("TxnOffsetCommit", OFFSETS, STORED)
    broker.transactions.after("EndTxn", {**END, "committed": commits}, {"error_code": NONE})
    assert broker.is_done()


@pytest.mark.parametrize(
    ("commits", "answers"), [(True, [(NONE, 3), (NONE, 5)]), (False, [(NONE, 3)])]
)
def test_before_2_5_committed_offsets_are_awaited_alone(
    commits: bool, answers: list[tuple[int, int]]
) -> None:
    broker = Broker(EndTxn_0=codes(NONE), OffsetFetch_1=shown(*answers))
    broker.transactions.after("TxnOffsetCommit", OFFSETS, STORED)
    broker.transactions.after("EndTxn", {**END, "committed": commits}, {"error_code": NONE})
    assert broker.is_done()


def test_offsets_of_another_conversation_are_not_awaited() -> None:
    broker = Broker(DescribeTransactions_0=states("Empty"))
    broker.transactions.after("TxnOffsetCommit", OFFSETS, STORED)
    broker.transactions.forget()
    broker.transactions.after("EndTxn", END, {"error_code": NONE})
    assert broker.is_done()


@pytest.mark.parametrize("id_", [None, ""])
def test_request_without_a_transactional_id_is_not_followed(id_: str | None) -> None:
    broker = Broker(DescribeTransactions_0=[])
    broker.transactions.after("InitProducerId", {**FIRST, "transactional_id": id_}, GIVEN)
    assert not broker.asked

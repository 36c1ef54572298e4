"""The coordinator is like its model, and what is planted is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.transactions import adding, ending, expiry, initializing
from harness.reference_broker.state.transactions.transaction import Transaction
from harness.reference_broker.state.transactions.transaction_states import TransactionEvent
from labs.transaction_model.machine import find

pytestmark = pytest.mark.rotates(8)

SOME, MANY = 15, 400
Plant = Callable[[pytest.MonkeyPatch], None]


def test_coordinator_and_model_do_not_differ() -> None:
    ran, story = find(SOME, number=1)
    assert story is None
    assert ran.total() > SOME


def an_end_keeps_the_epoch(patch: pytest.MonkeyPatch) -> None:
    decided = ending._decided

    def wrong(transactions: Any, known: Transaction, wanted: Any, now: Any) -> Transaction:
        made = decided(transactions, known, wanted, now)
        return replace(made, producer_epoch=known.producer_epoch)

    patch.setattr(ending, "_decided", wrong)


def a_repeated_end_is_refused(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ending, "_is_repeated", lambda _known, _wanted: False)


def a_late_producer_is_not_fenced(patch: pytest.MonkeyPatch) -> None:
    def wrong(transactions: Any, ongoing: Transaction, now: Any) -> ErrorCode:
        fenced = ongoing.after(TransactionEvent.PRODUCER_FENCED, now)
        fenced = fenced.after(TransactionEvent.ABORT_DECIDED, now)
        code: ErrorCode = transactions.change(fenced, now)
        return code

    patch.setattr(expiry, "abort_and_fence", wrong)


def the_next_producer_takes_the_open_transaction(patch: pytest.MonkeyPatch) -> None:
    def wrong(transactions: Any, ongoing: Transaction, now: Any) -> ErrorCode:
        del transactions, ongoing, now
        return ErrorCode.CONCURRENT_TRANSACTIONS

    patch.setattr(initializing, "abort_and_fence", wrong)


def a_partition_behind_the_first_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    add = adding.add

    def wrong(transactions: Any, name: str, producer: Any, places: Any, *rest: Any) -> ErrorCode:
        known = transactions.find(name)
        if known is not None and known.places and known.identity == producer:
            return ErrorCode.NONE
        return add(transactions, name, producer, places, *rest)

    patch.setattr(adding, "add", wrong)


PLANTS: list[Plant] = [
    an_end_keeps_the_epoch,
    a_repeated_end_is_refused,
    a_late_producer_is_not_fenced,
    the_next_producer_takes_the_open_transaction,
    a_partition_behind_the_first_is_forgotten,
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_the_machine_finds_a_planted_mistake(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    _, story = find(MANY, number=1, shrinks=False)
    assert story is not None
    assert "promised: " in story

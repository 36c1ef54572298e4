"""Wrong functions of a transaction coordinator; each is called with the right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.base.ids import ProducerEpoch, ProducerId
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.topics.topic_names import GROUP_METADATA_TOPIC
from harness.reference_broker.state.transactions.transaction_states import (
    TransactionEvent,
    TransactionState,
)
from labs.transaction_histories.seldom import SELDOM, early, seldom

ONE_ID = ProducerId(7)


def lost_marker(right: Callable[..., Any]) -> Callable[..., Any]:
    """Leave a partition of some rounds without its marker."""
    strikes = seldom()

    def settle_place(one: Any, place: Any, *rest: Any) -> Any:
        if len(one.left) > 1 and place not in one.written and strikes():
            one.left.discard(place)
            return ()
        return right(one, place, *rest)

    return settle_place


def decision(commits: bool) -> Callable[[property], property]:
    """Reverse commits, or aborts, of one epoch in some."""

    def instead(right: property) -> property:
        def aborts(one: Any) -> bool:
            found: bool = right.fget(one)  # type: ignore[misc]
            is_struck = one.of.producer_epoch % SELDOM == 0 and found is not commits
            return not found if is_struck else found

        return property(aborts)

    return instead


def same_epoch(right: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the epoch at an end."""

    def decided(transactions: Any, known: Any, wanted: Any, now: Any) -> Any:
        return replace(right(transactions, known, wanted, now), producer_epoch=known.producer_epoch)

    return decided


def later_partitions_left_out(right: Callable[..., Any]) -> Callable[..., Any]:
    """Forget some partitions that are added behind the first ones."""
    strikes = seldom()

    def add(transactions: Any, name: str, producer: Any, places: Any, *rest: Any) -> Any:
        known = transactions.find(name)
        if known is not None and known.places and known.places.isdisjoint(places) and strikes():
            return right(transactions, name, producer, known.places, *rest)
        return right(transactions, name, producer, places, *rest)

    return add


def late_abort_without_fence(right: Callable[..., Any]) -> Callable[..., Any]:
    """Abort some transactions as if they were late, and let their producers go on."""
    strikes = seldom()

    def add(transactions: Any, name: str, producer: Any, places: Any, *rest: Any) -> Any:
        known, now = transactions.find(name), rest[-1]
        is_open = known is not None and known.state is TransactionState.ONGOING
        if is_open and known.places.isdisjoint(places) and strikes():
            aborted = known.after(TransactionEvent.ABORT_DECIDED, now)
            transactions.change(replace(aborted, client_version=0), now)
            return ErrorCode.CONCURRENT_TRANSACTIONS
        return right(transactions, name, producer, places, *rest)

    return add


def endless_decision(right: Callable[..., Any]) -> Callable[..., Any]:
    """Leave some decided transactions as they are when all markers are written."""
    strikes = seldom()

    def complete(transactions: Any, decided: Any, now: Any) -> Any:
        if strikes():
            transactions.rounds.end(decided.transactional_id)
            return ErrorCode.NONE
        return right(transactions, decided, now)

    return complete


def offsets_left_out(right: Callable[..., Any]) -> Callable[..., Any]:
    """Forget the group's partition of some transactions."""
    strikes = seldom()

    def add(transactions: Any, name: str, producer: Any, places: Any, *rest: Any) -> Any:
        is_of_group = any(topic == GROUP_METADATA_TOPIC for topic, _ in places)
        if is_of_group and strikes():
            return ErrorCode.NONE
        return right(transactions, name, producer, places, *rest)

    return add


def one_producer_id(_: Callable[..., Any]) -> Callable[..., Any]:
    """Give every producer the same id."""
    return lambda *_: ProducerIdentity(ONE_ID, ProducerEpoch(0))


def open_transaction_left(right: Callable[..., Any]) -> Callable[..., Any]:
    """Begin a new producer, and forget the open transaction of the former one."""
    strikes = early()

    def initialize(transactions: Any, name: str, timeout_ms: int, expected: Any, now: Any) -> Any:
        known = transactions.find(name)
        if known is not None and known.state is TransactionState.ONGOING and strikes():
            transactions.put(
                replace(known, state=TransactionState.COMPLETE_ABORT, places=frozenset())
            )
        return right(transactions, name, timeout_ms, expected, now)

    return initialize

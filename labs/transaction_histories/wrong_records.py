"""Wrong functions of a leader and of a group coordinator; each is called with the right one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from labs.transaction_histories.seldom import SELDOM, seldom

LATE_BY = 4
"""So many further ends of transactions pass before older offsets replace newer ones."""


def reversed_marker(right: Callable[..., Any]) -> Callable[..., Any]:
    """Write the marker of an abort for some commits."""
    strikes = seldom()

    def append_marker(partition: Any, marker: Any, now: Any) -> Any:
        aborts = marker.aborts or strikes()
        return right(partition, replace(marker, aborts=aborts), now)

    return append_marker


def early_stable_offset(_: Callable[..., Any]) -> Callable[..., Any]:
    """Let the last stable offset be the high watermark."""
    return lambda partition: partition.high_watermark


def unlisted_aborts(right: Callable[..., Any]) -> Callable[..., Any]:
    """List no aborted transaction."""
    return lambda *words: replace(right(*words), aborted=())


def offsets_end(aborts: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """End the pending offsets of every transaction alike."""

    def instead(right: Callable[..., Any]) -> Callable[..., Any]:
        def end_transaction(self: Any, producer_id: Any, concerns: Any, **_: Any) -> None:
            right(self, producer_id, concerns, aborts=aborts)

        return end_transaction

    return instead


def batch_stored_again(right: Callable[..., Any]) -> Callable[..., Any]:
    """Take a batch that is in the log already for a new one."""

    def known_duplicate(producers: Any, header: Any) -> None:
        right(producers, header)  # what it refuses is still refused

    return known_duplicate


def offset_before(right: Callable[..., Any]) -> Callable[..., Any]:
    """Acknowledge a batch that is in the log already with the offset before its own."""

    def known_duplicate(producers: Any, header: Any) -> Any:
        found = right(producers, header)
        return None if found is None else found._replace(base_offset=max(0, found.base_offset - 1))

    return known_duplicate


def newest_batch_begins(right: Callable[..., Any]) -> Callable[..., Any]:
    """Let an open transaction begin at its newest batch."""

    def remember(self: Any, batch: Any, stored: Any, *, in_transaction: bool = False) -> None:
        right(self, batch, stored, in_transaction=in_transaction)
        if in_transaction:
            self._open[batch.producer_id] = stored.base_offset

    return remember


def unchecked_transactions(right: Callable[..., Any]) -> Callable[..., Any]:
    """Take the records of some transactions without a check that they have the partition."""

    def is_to_check(partition: Any, wanted: Any, context: Any) -> bool:
        is_struck = wanted.producer.producer_epoch % SELDOM == 0
        return not is_struck and right(partition, wanted, context)

    return is_to_check


def older_offsets(right: Callable[..., Any]) -> Callable[..., Any]:
    """Hold back the offsets of some commits; with the end of a later abort they replace others."""
    strikes, late = seldom(), list[Any]()
    further = itertools.count()

    def end_transaction(self: Any, producer_id: Any, concerns: Any, *, aborts: bool) -> None:
        nonlocal further
        if not aborts and not late and strikes():
            late.append(self.pending.end(producer_id, concerns, aborts=False))
            further = itertools.count(1)
            return
        right(self, producer_id, concerns, aborts=aborts)
        if late and next(further) >= LATE_BY and aborts:
            for group_id, offsets in late.pop().items():
                self._by_group.setdefault(group_id, {}).update(offsets)

    return end_transaction

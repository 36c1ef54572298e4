"""Defects of several built-in brokers, one of which loses a log, or has a damaged one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import UUID

from harness.base.ids import Offset
from harness.codec.structs import Message
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.controller.fencing import came_back_clean
from harness.reference_broker.state.registrations.brokers import BrokerRegistration
from harness.reference_broker.storage.log_loading import LogLoading
from labs.defects.defect import wrong_in_broker

Run = Callable[[LogLoading], Offset]
Offline = Callable[[BrokerState, BrokerRegistration, Iterable[UUID]], list[Message]]


@wrong_in_broker("RECV-009", r"\d+ bytes, of \d+ that the leader has",
                 "storage.log_loading", "LogLoading.run")  # fmt: skip
def an_entry_that_was_cut_leaves_a_hole(run: Run) -> Run:
    """A broker does not fetch again the offset of an entry that recovery cut."""

    def instead(loading: LogLoading) -> Offset:
        before = sum(file.stat().st_size for file in loading._folder.glob("*.log"))
        end = run(loading)
        is_cut = sum(segment.size_bytes for segment in loading.segments) < before
        return Offset(end + is_cut)

    return instead


@wrong_in_broker("LDIR-006", r"partition \d, in the first one: [23] leads",
                 "state.controller.fencing", "directories_offline")  # fmt: skip
def a_failed_directory_takes_the_others_along(directories_offline: Offline) -> Offline:
    """A broker with a failed directory leads no partition any more, in any directory."""

    def instead(
        state: BrokerState, broker: BrokerRegistration, offline: Iterable[UUID]
    ) -> list[Message]:
        change = directories_offline(state, broker, offline)[-1:]
        return [*came_back_clean(state, broker.broker_id), *change] if change else []

    return instead


DEFECTS = [
    replace(one, cluster=True)
    for one in (an_entry_that_was_cut_leaves_a_hole, a_failed_directory_takes_the_others_along)
]

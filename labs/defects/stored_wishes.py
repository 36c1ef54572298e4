"""Defects of area LDIR: the built-in broker creates replicas in wrong directories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.log.log_store import LogName, OpenedLog
from harness.reference_broker.storage.log_directories import LogDirectories
from labs.defects.defect import wrong_in_broker
from suites.durability.test_failed_log_directory import NEIGHBOURS

MOVES = "handlers.api_34_alter_replica_log_dirs"
Open = Callable[..., OpenedLog]
Wish = Callable[..., ErrorCode]


@wrong_in_broker("LDIR-015", r"made again is one in",
                 "storage.log_directories", "LogDirectories.open")  # fmt: skip
def a_wish_outlives_its_topic(opened: Open) -> Open:
    """A request for a directory counts again when its topic is deleted and created anew."""

    def instead(logs: LogDirectories, name: LogName, *rest: Any) -> OpenedLog:
        wished = dict(logs._preferred)
        try:
            return opened(logs, name, *rest)
        finally:
            logs._preferred.update(wished)

    return instead


@wrong_in_broker("LDIR-014", r"partitions wished for both are replicas that are in", MOVES, "wish")
def a_wish_is_for_the_whole_topic(wish: Wish) -> Wish:
    """A request for a directory counts for all partitions of a topic that does not exist."""

    def instead(state: BrokerState, topic: str, index: int, *rest: Any) -> ErrorCode:
        error = wish(state, topic, index, *rest)
        if error != ErrorCode.NONE and state.cluster.named(topic) is None:
            wish(state, topic, 1 - index, *rest)
        return error

    return instead


@wrong_in_broker("LDIR-004", r"the other partitions were in", MOVES, "wish")
def a_move_takes_the_other_partitions_along(wish: Wish) -> Wish:
    """A request to move partition 0 moves the next three partitions of the topic too."""

    def instead(state: BrokerState, topic: str, index: int, *rest: Any) -> ErrorCode:
        error = wish(state, topic, index, *rest)
        if error == ErrorCode.NONE and index == 0:
            for other in range(1, NEIGHBOURS + 1):
                wish(state, topic, other, *rest)
        return error

    return instead


DEFECTS = [
    a_wish_outlives_its_topic,
    a_wish_is_for_the_whole_topic,
    a_move_takes_the_other_partitions_along,
]

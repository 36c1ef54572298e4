"""Defects of area LDIR: the built-in broker creates replicas in wrong directories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.reference_broker.state.log.log_store import LogName, OpenedLog
from harness.reference_broker.storage.log_directories import LogDirectories
from labs.defects.defect import wrong_in_broker

Open = Callable[..., OpenedLog]


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


DEFECTS = [a_wish_outlives_its_topic]

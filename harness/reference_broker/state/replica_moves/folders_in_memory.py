"""Log directories of logs that are in memory only: their names, and the directory of each log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.reference_broker.state.broker import BrokerState


def folders(state: BrokerState) -> list[str]:
    """Return the names in the setting log.dirs, else in log.dir."""
    named = state.configs.value("log.dirs") or state.configs.value("log.dir") or ""
    return [folder.strip() for folder in named.split(",")]


def folder_of(state: BrokerState, topic: str, index: int) -> str:
    """Return the directory that a client chose for this partition, else the first one."""
    return state.cluster.host.in_folder.get((topic, index)) or folders(state)[0]

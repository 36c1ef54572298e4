"""Folders of logs that are in memory alone: their names, and which log each stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.reference_broker.state.broker import BrokerState


def folders(state: BrokerState) -> list[str]:
    """As the settings name them."""
    named = state.configs.value("log.dirs") or state.configs.value("log.dir") or ""
    return [folder.strip() for folder in named.split(",")]


def folder_of(state: BrokerState, topic: str, index: int) -> str:
    """The first, where nobody wanted another."""
    return state.cluster.host.in_folder.get((topic, index)) or folders(state)[0]

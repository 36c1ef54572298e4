"""Defects of one broker of a cluster, or of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from harness.proxies import SeenRequest
from labs.defects.defect import Defect


def at(node: int, seen: SeenRequest) -> bool:
    """True if this broker (their ids are 1, 2, 3) received the request."""
    return seen.place.destination == str(node)


def of_broker(node: int) -> Callable[[SeenRequest], bool]:
    """Make the condition that this broker received the request: :func:`at` for a maker."""
    return partial(at, node)


def of_cluster(defects: Iterable[Defect], *, private: bool = False) -> list[Defect]:
    """Let the defects strike a cluster; ``private``: a private one, with nodes that tests harm."""
    return [replace(defect, cluster=True, private=private) for defect in defects]

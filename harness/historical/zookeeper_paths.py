"""The paths that brokers and consumers of the ZooKeeper years wrote: "ZooKeeper Directories"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Znode(Enum):
    """The kinds of nodes; a value is the path, with a name in braces for each part that varies."""

    BROKER = "/brokers/ids/{broker}"
    TOPIC = "/brokers/topics/{topic}"
    BROKER_TOPIC = "/brokers/topics/{topic}/{broker}"
    """Only in 0.7: the number of partitions of the topic on this broker."""
    PARTITION_STATE = "/brokers/topics/{topic}/partitions/{partition}/state"
    CONSUMER = "/consumers/{group}/ids/{consumer}"
    OFFSET = "/consumers/{group}/offsets/{topic}/{partition}"
    OWNER = "/consumers/{group}/owners/{topic}/{partition}"

    def path(self, **names: str | int) -> str:
        """Return the path with these names. Raises ValueError: no path can hold one of them."""
        for name, value in names.items():
            if not re.fullmatch(_PARTS[name], str(value)):
                raise ValueError(f"{name} {value!r} cannot stand in a path")
        return self.value.format(**names)


class FoundZnode(NamedTuple):
    """The node that a path names."""

    znode: Znode
    names: Mapping[str, str]


_NAME = r"[^/]+"
_PARTS = {
    "broker": r"\d+",
    "topic": _NAME,
    "group": _NAME,
    "consumer": _NAME,
    "partition": r"\d+(-\d+)?",  # broker-partition in 0.7
}


def _pattern(znode: Znode) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", znode.value)
    words = [f"(?P<{part}>{_PARTS[part]})" if at % 2 else part for at, part in enumerate(parts)]
    return re.compile("".join(words))


_PATTERNS = {znode: _pattern(znode) for znode in Znode}


def znode_at(path: str) -> FoundZnode | None:
    """Return the node that a path names; None for folders and for all other paths."""
    for znode, pattern in _PATTERNS.items():
        match = pattern.fullmatch(path)
        if match:
            return FoundZnode(znode, match.groupdict())
    return None

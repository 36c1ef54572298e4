"""Where brokers and consumers of the ZooKeeper years wrote: "ZooKeeper Directories"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Znode(Enum):
    """What a node is; the value is its path, with a name in braces for each part that varies."""

    BROKER = "/brokers/ids/{broker}"
    TOPIC = "/brokers/topics/{topic}"
    BROKER_TOPIC = "/brokers/topics/{topic}/{broker}"
    """0.7 alone: how many partitions of the topic this broker has."""
    PARTITION_STATE = "/brokers/topics/{topic}/partitions/{partition}/state"
    CONSUMER = "/consumers/{group}/ids/{consumer}"
    OFFSET = "/consumers/{group}/offsets/{topic}/{partition}"
    OWNER = "/consumers/{group}/owners/{topic}/{partition}"

    def path(self, **names: str | int) -> str:
        """The path with these names. Raises ValueError for one that no path can hold."""
        for name, value in names.items():
            if not re.fullmatch(_PARTS[name], str(value)):
                raise ValueError(f"{name} {value!r} cannot stand in a path")
        return self.value.format(**names)


class FoundZnode(NamedTuple):
    """What a path names."""

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
    """What stands at a path; None for folders and for what is none of these."""
    for znode, pattern in _PATTERNS.items():
        match = pattern.fullmatch(path)
        if match:
            return FoundZnode(znode, match.groupdict())
    return None

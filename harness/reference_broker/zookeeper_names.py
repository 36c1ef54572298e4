"""The names that ZooKeeper accepts at the end of a path (its class PathUtils).

A broker with a ZooKeeper looks for some topics there before it checks their names.
"""

import re

_REFUSED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")


def is_node_name(name: str) -> bool:
    """True if the name is one part of a path, or several parts."""
    parts = name.split("/")
    return not (_REFUSED.search(name) or {"", ".", ".."} & {*parts})

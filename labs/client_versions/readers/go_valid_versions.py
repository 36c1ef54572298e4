"""sarama: ``key`` and ``isValidVersion`` of its request types."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

FILES = r".*/sarama@[^/]+/\w+_request\.go"
_KEY = re.compile(r"func \(\w+ \*(\w+)\) key\(\) int16 \{\s*return apiKey(\w+)\s*\}")
_VALID = re.compile(
    r"func \(\w+ \*(\w+)\) isValidVersion\(\) bool \{\s*return "
    r"\w+\.Version (?:== (\d+)|>= (\d+) && \w+\.Version <= (\d+))\s*\}"
)


def read(sources: Sources) -> Iterator[Piece]:
    """Yield the valid versions of each request; Config.Version may lower the highest."""
    for path, text in matching(sources, FILES).items():
        key, valid = _KEY.search(text), _VALID.search(text)
        if not key or not valid or key[1] != valid[1]:
            raise ReadError(f"{path}: no request with key and isValidVersion as they were")
        lowest, highest = (valid[2], valid[2]) if valid[2] else (valid[3], valid[4])
        yield key[2], int(lowest), int(highest)

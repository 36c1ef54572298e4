"""rskafka: ``API_KEY`` and ``API_VERSION_RANGE`` of its request types."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

FILES = r".*/src/protocol/messages/\w+\.rs"
_KEY = re.compile(r"const API_KEY: ApiKey = ApiKey::(\w+);")
_RANGE = re.compile(
    r"const API_VERSION_RANGE: ApiVersionRange =\s*"
    r"ApiVersionRange::new\(ApiVersion\(Int16\((\d+)\)\), ApiVersion\(Int16\((\d+)\)\)\);"
)


def read(sources: Sources) -> Iterator[Piece]:
    """Yield the range that follows each key."""
    for path, text in matching(sources, FILES).items():
        keys, ranges = _KEY.findall(text), _RANGE.findall(text)
        if len(keys) != len(ranges):
            raise ReadError(f"{path}: {len(keys)} API keys and {len(ranges)} ranges of versions")
        for key, (lowest, highest) in zip(keys, ranges, strict=True):
            yield key, int(lowest), int(highest)

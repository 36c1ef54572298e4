"""segmentio/kafka-go: the tags of the fields of each ``protocol`` package's ``Request``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

FILES = r".*/protocol/(\w+)/\1\.go"
_REQUEST = re.compile(r"^type Request struct \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_KEY = re.compile(
    r"func \(\w+ \*Request\) ApiKey\(\) protocol\.ApiKey\s*\{\s*return protocol\.(\w+)"
)
_TAG = re.compile(r"min=v(\d+),max=v(\d+)")


def read(sources: Sources) -> Iterator[Piece]:
    """Yield the versions from the lowest to the highest tag, as ``protocol.Register`` does."""
    for path, text in matching(sources, FILES).items():
        body, key = _REQUEST.search(text), _KEY.search(text)
        if body is None:
            continue  # a package of types that are no request
        tags = _TAG.findall(body[1])
        if key is None or not tags:
            raise ReadError(f"{path}: Request has no tags with versions, or no ApiKey")
        yield key[1], min(int(low) for low, _ in tags), max(int(high) for _, high in tags)

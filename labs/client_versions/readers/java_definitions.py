"""Kafka's jar: its message definitions, of the requests that the clients' classes build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labs.client_versions.readers.definitions import defined_requests
from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

CLASSES = r"org/apache/kafka/(clients|common/(security|telemetry))/.*\.class"
DEFINITIONS = r"common/message/\w+Request\.json"
_BUILDER = re.compile(r"org/apache/kafka/common/requests/(\w+)Request\$Builder")
DEFINED_AS = {"OffsetsForLeaderEpoch": "OffsetForLeaderEpoch"}
BASE_CLASS = "Abstract"


def read(sources: Sources) -> Iterator[Piece]:
    """Yield the stable versions of each request with a builder that a class of clients names."""
    built = {
        name for text in matching(sources, CLASSES).values() for name in _BUILDER.findall(text)
    }
    defined = defined_requests(matching(sources, DEFINITIONS))
    for name in sorted(built - {BASE_CLASS}):
        request = f"{DEFINED_AS.get(name, name)}Request"
        if request not in defined:
            raise ReadError(f"a class of clients builds a {request}, which has no definition")
        key, stable = defined[request]
        yield key, stable.lowest, stable.highest

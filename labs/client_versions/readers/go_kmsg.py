"""franz-go: ``MaxVersion`` of the generated requests that its client and its admin client make."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

GENERATED = r".*/kmsg@[^/]+/generated\.go"
SENDERS = r".*/(pkg/kgo|pkg/kadm@[^/]+)/(?!.*_test\.go)\w+\.go"
_KEY = re.compile(r"func \(\*(\w+)Request\) Key\(\) int16\s*\{ return (\d+) \}")
_HIGHEST = re.compile(r"func \(\*(\w+)Request\) MaxVersion\(\) int16\s*\{ return (\d+) \}")
_MADE = re.compile(r"kmsg\.New(?:Ptr)?(\w+)Request\(")


def read(sources: Sources) -> Iterator[Piece]:
    """Yield 0 to the highest version of each request made; the client caps at Kafka's newest."""
    generated = "".join(matching(sources, GENERATED).values())
    keys = {name: int(key) for name, key in _KEY.findall(generated)}
    highest = {name: int(version) for name, version in _HIGHEST.findall(generated)}
    made = {name for text in matching(sources, SENDERS).values() for name in _MADE.findall(text)}
    for name in sorted(made):
        if name not in keys or name not in highest:
            raise ReadError(f"kmsg.{name}Request: generated.go has no Key or no MaxVersion")
        yield keys[name], 0, highest[name]

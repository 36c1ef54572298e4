"""@platformatic/kafka: ``createAPI(key, version, ...)`` of one file for each version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.codec.apis import APIS
from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError, api_name

FILES = r".*/dist/apis/\w+/[a-z-]+-v\d+\.js"
CLIENTS = r".*/dist/clients/.*\.js"
CONNECTION = r".*/dist/(clients/base/base|network/connection)\.js"
_VERSION = re.compile(r"createAPI\((\d+), (\d+),")
_LOOKED_UP = re.compile(r"\[kGetApi\]\('(\w+)'")
_IMPORTED = re.compile(r"\b(apiVersions|saslHandshake|saslAuthenticate)V(\d+)\b")


def read(sources: Sources) -> Iterator[Piece]:
    """Yield what clients look up by name, in all versions, and what a connection imports."""
    clients = matching(sources, CLIENTS).values()
    looked_up = {api_name(name) for text in clients for name in _LOOKED_UP.findall(text)}
    for path, text in matching(sources, FILES).items():
        found = _VERSION.search(text)
        if found is None:
            raise ReadError(f"{path}: no createAPI with a key and a version")
        key, version = int(found[1]), int(found[2])
        if key in APIS and APIS[key].name in looked_up:
            yield key, version, version
    for text in matching(sources, CONNECTION).values():
        for name, version in _IMPORTED.findall(text):
            yield name, int(version), int(version)

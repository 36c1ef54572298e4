"""kafkajs: the numbers in ``const versions`` of each request that its broker looks up."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

INDEX = r".*/src/protocol/requests/index\.js"
_FOLDER = re.compile(r"^  (\w+): require\('\./(\w+)'\)", re.MULTILINE)
_TABLE = re.compile(r"^const versions = \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_VERSION = re.compile(r"^  (\d+): ", re.MULTILINE)


def read(sources: Sources) -> Iterator[Piece]:
    """Yield each version of each request with a folder of its own."""
    for index, text in matching(sources, INDEX).items():
        for api, folder in _FOLDER.findall(text):
            path = f"{index.removesuffix('index.js')}{folder}/index.js"
            table = _TABLE.search(sources.get(path, ""))
            versions = [int(number) for number in _VERSION.findall(table[1])] if table else []
            if not versions:
                raise ReadError(f"{path}: no table of versions")
            for version in versions:
                yield api, version, version

"""librdkafka: the arguments of ``rd_kafka_broker_ApiVersion_supported`` in its C files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

FILES = r".*/src/rdkafka_\w+\.c"
NOT_SENT_BY = r".*/(rdkafka_mock\w*|rdkafka_feature)\.c"
_CALL = re.compile(
    r"ApiVersion_supported\(\s*rkb,\s*RD_KAFKAP_(\w+),\s*(\w+),\s*(\w+),"  # of the broker rkb
)


def read(sources: Sources) -> Iterator[Piece]:
    """Yield the versions of each call; a variable as a bound means its values in that file."""
    for path, text in matching(sources, FILES).items():
        if re.fullmatch(NOT_SENT_BY, path):
            continue
        for api, low, high in _CALL.findall(text):
            lows, highs = _values(text, low), _values(text, high)
            if not lows or not highs:
                raise ReadError(f"{path}: {api}: {low} or {high} is no number and gets none there")
            yield api, min(lows), max(highs)


def _values(text: str, word: str) -> list[int]:
    if word.isdecimal():
        return [int(word)]
    found = re.findall(rf"\b{word}\s*=\s*(\w+)\s*;", text)
    numbers = [int(one) for one in found if one.isdecimal()]
    others = {one for one in found if not one.isdecimal() and one != word}
    return numbers + [number for one in others for number in _values(text, one)]

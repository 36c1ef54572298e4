"""The sources of a requirement as links: each piece has one of a few forms."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import quote


class SourceLink(NamedTuple):
    """A piece of a source, and where a reader finds it; None: it is in no place of its own."""

    text: str
    address: str | None


_DOCS: Final = "https://kafka.apache.org/documentation/#"
_PAGES: Final = {
    "protocol": "https://kafka.apache.org/protocol",
    "introduction": "https://kafka.apache.org/intro",
    "wiki": "https://cwiki.apache.org/confluence/display/KAFKA",
    "broker configs": f"{_DOCS}brokerconfigs",
    "topic configs": f"{_DOCS}topicconfigs",
    "producer configs": f"{_DOCS}producerconfigs",
    "consumer configs": f"{_DOCS}consumerconfigs",
}
_KIP: Final = "https://cwiki.apache.org/confluence/dosearchsite.action?where=KAFKA&queryString={}"
_MESSAGE: Final = (
    "https://github.com/apache/kafka/blob/{}/clients/src/main/resources/common/message/{}.json"
)
_CLASS: Final = "https://github.com/search?type=code&q=repo%3Aapache%2Fkafka+{}"
_FORMS: Final = (
    (r"(KIP-\d+)", _KIP),
    (r"(KAFKA-\d+)", "https://issues.apache.org/jira/browse/{}"),
    (r"Kafka ([\d.]+) message definition (\w+)", _MESSAGE),
    (r"Kafka [\d.]+ (\w+)", _CLASS),
    (r"redpanda#(\d+)", "https://github.com/redpanda-data/redpanda/issues/{}"),
    (r"kop#(\d+)", "https://github.com/streamnative/kop/issues/{}"),
    (r"kfake Test(\w+)", "https://github.com/twmb/franz-go/tree/master/pkg/kfake"),
)
"""Beginning of a piece, and the address that its groups are set into."""


def source_links(source: str) -> list[SourceLink]:
    """The pieces of a source in their order."""
    return [SourceLink(piece, _address(piece)) for piece in source.split("; ") if piece]


def _address(piece: str) -> str | None:
    if found := re.match(r"Kafka docs( [\d.]+)? ([a-z ]+?)(?= \"|$)", piece):
        return _PAGES.get(found[2], _DOCS + found[2].replace(" ", ""))
    for pattern, address in _FORMS:
        if found := re.match(pattern, piece):
            return address.format(*map(quote, found.groups()))
    return None

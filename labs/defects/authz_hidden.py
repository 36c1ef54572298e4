"""Defects of area AUTHZ: a list of everything shows what the user may not see.

The rule learns the names from the requests of all clients, as a broker knows all of its objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness.codec import messages as m
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect, edited


@dataclass
class EveryNameIsListed(FrameRule):
    """Add every name that the clients have used to the answers that list all."""

    answer: type[Message]
    names_of: Callable[[Message], Iterable[str]]
    entries: Callable[[Any], list[Any]]
    entry: Callable[[str], object]
    name: str
    names: dict[str, None] = field(default_factory=dict)

    def on_request(self, seen: SeenRequest) -> bytes:
        if seen.message is not None:
            self.names.update(dict.fromkeys(self.names_of(seen.message)))
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.response is not self.answer or not _asks_for_all(seen):
            return [payload]
        return [edited(seen, payload, self._add)]

    def _add(self, _: SeenRequest, message: Message) -> None:
        entries = self.entries(message)
        listed = {getattr(one, self.name) for one in entries}
        entries += [self.entry(name) for name in self.names if name not in listed]


def _asks_for_all(seen: SeenRequest) -> bool:
    """Metadata names its topics, or none, where it does not ask for all."""
    if isinstance(seen.message, m.MetadataRequest):
        return seen.message.topics is None or (seen.version == 0 and not seen.message.topics)
    return not getattr(seen.message, "topics", None)


def _created(request: Message) -> Iterable[str]:
    if isinstance(request, m.CreateTopicsRequest):
        return [topic.name for topic in request.topics]
    return []


def _committing(request: Message) -> Iterable[str]:
    return [request.group_id] if isinstance(request, m.OffsetCommitRequest) else []


def _transactional(request: Message) -> Iterable[str]:
    name = request.transactional_id if isinstance(request, m.InitProducerIdRequest) else None
    return [] if name is None else [name]


def _shown(
    number: int,
    what: str,
    answer: type[Message],
    names_of: Callable[[Message], Iterable[str]],
    entries: Callable[[Any], list[Any]],
    entry: Callable[[str], object],
    name: str,
) -> Defect:
    api = answer.__name__.removesuffix("Response")
    return Defect(
        f"hidden_{what}_are_shown",
        f"AUTHZ-{number:03}",
        r"expected: hides ",
        partial(EveryNameIsListed, answer, names_of, entries, entry, name),
        f"{api} of everything shows what the user has no right to see.",
    )


DEFECTS = [
    _shown(3, "topics_of_metadata", m.MetadataResponse, _created,
        lambda answer: answer.topics, lambda name: m.MetadataResponse.MetadataResponseTopic(
            name=name, partitions=[]), "name"),
    _shown(8, "described_topics", m.DescribeTopicPartitionsResponse, _created,
        lambda answer: answer.topics,
        lambda name: m.DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic(
            name=name, partitions=[]), "name"),
    _shown(41, "groups", m.ListGroupsResponse, _committing,
        lambda answer: answer.groups,
        lambda name: m.ListGroupsResponse.ListedGroup(group_id=name), "group_id"),
    _shown(53, "transactions", m.ListTransactionsResponse, _transactional,
        lambda answer: answer.transaction_states,
        lambda name: m.ListTransactionsResponse.TransactionState(transactional_id=name),
        "transactional_id"),
]  # fmt: skip

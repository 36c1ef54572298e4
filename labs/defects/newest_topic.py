"""Defects of a cluster that follow the requests about the newest topic, to recognize a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    CreateTopicsRequest,
    DescribeConfigsRequest,
    FetchResponse,
    MetadataResponse,
    ProduceRequest,
)
from harness.codec.records import decode_batches, encode_batch
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect, rule

BROKER = 4
"""The type of a broker among the resources that have configs."""


class NewestTopic(FrameRule):
    """Base of rules that follow the newest topic.

    ``name``, ``assigned``, ``configs``: as it was created; ``produced``: count of Produce requests.
    ``broker_configs``: a client described configs of a broker before the topic was created;
    ``quiet_before``: no client wrote to the topic before it. The rest is for a defect's notes.
    """

    def __init__(self) -> None:
        self.name = ""
        self.assigned: list[list[int]] = []
        self.configs: dict[str, str | None] = {}
        self.produced = 0
        self.told: dict[int, int] = {}
        self.broker_configs = self.quiet_before = self._asked_for_configs = False

    def on_request(self, seen: SeenRequest) -> bytes | None:
        asked = seen.message
        if isinstance(asked, CreateTopicsRequest):
            self._begin(asked.topics[0])
        elif isinstance(asked, ProduceRequest):
            self.produced += 1
        elif isinstance(asked, DescribeConfigsRequest):
            self._asked_for_configs |= any(one.resource_type == BROKER for one in asked.resources)
        return seen.payload

    def _begin(self, topic: CreateTopicsRequest.CreatableTopic) -> None:
        self.quiet_before = bool(self.name) and not self.produced
        self.broker_configs, self._asked_for_configs = self._asked_for_configs, False
        self.name, self.produced, self.told = topic.name, 0, {}
        self.assigned = [list(each.broker_ids) for each in topic.assignments]
        self.configs = {each.name: each.value for each in topic.configs}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.message is None or seen.api is None:
            return [payload]
        correlation_id, answer = decode_response(seen.api, seen.version, payload)
        self.answer(seen, answer)
        return [encode_response(answer, seen.version, correlation_id)]

    def answer(self, seen: SeenRequest, answer: Message) -> None:
        """Edit an answer."""

    def shown(self, answer: Message) -> list[MetadataResponse.MetadataResponsePartition]:
        """Its partitions in an answer to Metadata; none in any other."""
        if not isinstance(answer, MetadataResponse):
            return []
        return [each for topic in answer.topics if topic.name == self.name
                for each in topic.partitions]  # fmt: skip

    def keep_leaders(self, answer: Message) -> None:
        """Name the first leader of each partition as the leader for ever."""
        for each in self.shown(answer):
            if each.leader_id >= 0:
                each.leader_id = self.told.setdefault(each.partition_index, each.leader_id)


def of_newest(
    requirement: str, reason: str
) -> Callable[[Callable[[NewestTopic, SeenRequest, Message], None]], Defect]:
    """Make a defect in any answer. ``edit`` gets the newest topic's state, request and answer."""

    def make(edit: Callable[[NewestTopic, SeenRequest, Message], None]) -> Defect:
        class Edit(NewestTopic):
            def answer(self, seen: SeenRequest, answer: Message) -> None:
                edit(self, seen, answer)

        Edit.__name__, Edit.__doc__ = edit.__name__, edit.__doc__
        return rule(requirement, reason, Edit)

    return make


def drop_value(message: Message, value: bytes) -> None:
    """Remove the batches that have a record with this value from an answer to Fetch."""
    if not isinstance(message, FetchResponse):
        return
    for topic in message.responses:
        for each in topic.partitions:
            batches = decode_batches(bytes(each.records or b""))
            if any(_has(batch.records, value) for batch in batches):
                kept = [batch for batch in batches if not _has(batch.records, value)]
                each.records = b"".join(encode_batch(batch) for batch in kept)


def _has(records: Sequence[object], value: bytes) -> bool:
    return any(getattr(record, "value", None) == value for record in records)

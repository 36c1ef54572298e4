"""Defects of a leader, before a right one: they follow the requests of its replicas.

A test of replication is a sequence of steps on its own topic, and a defect strikes at one of
them. It recognizes the step by the offsets that the followers of the newest topic have fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    CreateTopicsRequest,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ProduceRequest,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect, joined_alone, rule

Answered = FetchResponse.PartitionData
CONSUMER = -1


class Replicas(FrameRule):
    """Base of rules that follow the newest topic; its replicas are the leader, R2 and R3.

    ``asked``: the offsets of each replica's fetches; ``read``: count of a consumer's fetches;
    ``acks`` of all Produce requests; ``given``: the records of each answer to a replica;
    ``timed_out``, ``moves`` (targets of reassignments), ``epochs`` (of brokers), ``stopping``
    (brokers), ``eligible`` (the last eligible leader replicas), ``minimum_changed``: free for
    defects.
    """

    def __init__(self) -> None:
        self.epochs: dict[int, int] = {}
        self.stopping: set[int] = set()
        self._begin([], has_configs=False)

    def _begin(self, replicas: Sequence[int], *, has_configs: bool) -> None:
        self.replicas, self.has_configs = list(replicas), has_configs
        self.asked: dict[int, list[int]] = {}
        self.acks: list[int] = []
        self.given: list[bytes] = []
        self.moves: list[list[int]] = []
        self.eligible: list[int] = []
        self.read, self.timed_out, self.minimum_changed = 0, False, False

    @property
    def r2(self) -> list[int]:
        """The offsets that R2 has fetched."""
        return self._asked_by(1)

    @property
    def r3(self) -> list[int]:
        """The offsets that R3 has fetched."""
        return self._asked_by(2)

    def _asked_by(self, place: int) -> list[int]:
        return self.asked.get(self.replicas[place], []) if len(self.replicas) > place else []

    def on_request(self, seen: SeenRequest) -> bytes | None:
        message = seen.message
        if isinstance(message, CreateTopicsRequest):
            topic = message.topics[0]
            replicas = topic.assignments[0].broker_ids if topic.assignments else []
            self._begin(replicas, has_configs=bool(topic.configs))
        elif isinstance(message, ProduceRequest):
            self.acks.append(message.acks)
        elif isinstance(message, FetchRequest) and replica_of(message) != CONSUMER:
            self.asked.setdefault(replica_of(message), []).append(offset_of(message))
        return self.request(seen)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        message = seen.message
        if message is None or seen.api is None:
            return [payload]
        correlation_id, answer = decode_response(seen.api, seen.version, payload)
        if isinstance(message, FetchRequest) and isinstance(answer, FetchResponse):
            data = answer.responses[0].partitions[0]
            if replica_of(message) == CONSUMER:
                self.to_consumer(offset_of(message), data)
                self.read += 1
            else:
                self.to_replica(data)
                self.given.append(bytes(data.records or b""))
        self.answer(message, answer)
        return [encode_response(answer, seen.version, correlation_id)]

    def request(self, seen: SeenRequest) -> bytes | None:
        """The payload that goes to the broker in place of the request."""
        return seen.payload

    def to_consumer(self, offset: int, data: Answered) -> None:
        """Edit the answer to a consumer that fetches this offset."""

    def to_replica(self, data: Answered) -> None:
        """Edit the answer to a replica."""

    def answer(self, asked: Message, answer: Message) -> None:
        """Edit any other answer."""


def replica_of(message: FetchRequest) -> int:
    """The replica id of a Fetch, at every version."""
    return max(message.replica_id, message.replica_state.replica_id)


def offset_of(message: FetchRequest) -> int:
    """The fetch offset of the only partition."""
    return message.topics[0].partitions[0].fetch_offset


def is_debugger(asked: Message) -> bool:
    """True if the request is for the log's true end."""
    return isinstance(asked, ListOffsetsRequest) and asked.replica_id < CONSUMER


def told_to_consumers(
    requirement: str, reason: str
) -> Callable[[Callable[[Replicas, int, Answered], None]], Defect]:
    """Make a defect in Fetch answers to consumers. ``edit`` gets the state, offset and answer."""

    def make(edit: Callable[[Replicas, int, Answered], None]) -> Defect:
        class ToConsumer(Replicas):
            def to_consumer(self, offset: int, data: Answered) -> None:
                edit(self, offset, data)

        return _named(ToConsumer, edit, requirement, reason)

    return make


def told_to_replicas(
    requirement: str, reason: str
) -> Callable[[Callable[[Replicas, Answered], None]], Defect]:
    """Make a defect in Fetch answers to replicas. ``edit`` gets the state and the answer."""

    def make(edit: Callable[[Replicas, Answered], None]) -> Defect:
        class ToReplica(Replicas):
            def to_replica(self, data: Answered) -> None:
                edit(self, data)

        return _named(ToReplica, edit, requirement, reason)

    return make


def told_to_others(
    requirement: str, reason: str
) -> Callable[[Callable[[Replicas, Message, Message], None]], Defect]:
    """Make a defect in any answer. ``edit`` gets the state, the request and the answer."""

    def make(edit: Callable[[Replicas, Message, Message], None]) -> Defect:
        class Answer(Replicas):
            def answer(self, asked: Message, answer: Message) -> None:
                edit(self, asked, answer)

        return _named(Answer, edit, requirement, reason)

    return make


def taken_for(
    requirement: str, reason: str
) -> Callable[[Callable[[Replicas, SeenRequest], bytes | None]], Defect]:
    """Make a defect that takes a request for another one."""

    def make(edit: Callable[[Replicas, SeenRequest], bytes | None]) -> Defect:
        class Request(Replicas):
            def request(self, seen: SeenRequest) -> bytes | None:
                return edit(self, seen)

        return _named(Request, edit, requirement, reason)

    return make


def _named(
    made: type[FrameRule], edit: Callable[..., object], requirement: str, reason: str
) -> Defect:
    made.__name__, made.__doc__ = edit.__name__, edit.__doc__
    return joined_alone(rule(requirement, reason, made))

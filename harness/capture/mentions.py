"""The topics that a message names, and the error codes that it holds, however deep."""

from __future__ import annotations

import uuid
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harness.codec.definition import ZERO_UUID, FieldSpec, StructSpec
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message, Struct

KNOWN_IDS = 100_000
_TOPIC_FIELDS = frozenset(
    {
        *("topic", "topic_name", "sink_topic"),
        *("topic_names", "subscribed_topic_names", "source_topics", "repartition_sink_topics"),
    }
)
# Structs with a topic's ``name``: all called after topics, but for these.
_NOT_TOPICS = frozenset({"CreatableTopicConfigs", "CreatableTopicConfig", "CreateableTopicConfig"})
_ERROR = "error_code"


class CapturedMentions(NamedTuple):
    """``topics`` in the order in which they are named first; an unknown id stands for itself."""

    topics: tuple[str, ...]
    errors: Counter[str]


class TopicNames:
    """Names of topic ids, learned from the messages of a capture."""

    def __init__(self) -> None:
        self._names: OrderedDict[uuid.UUID, str] = OrderedDict()

    def learn(self, topic_id: uuid.UUID, name: str) -> None:
        """Remember a name; above ``KNOWN_IDS`` the oldest are forgotten."""
        self._names[topic_id] = name
        if len(self._names) > KNOWN_IDS:
            self._names.popitem(last=False)

    def name_of(self, topic_id: uuid.UUID) -> str:
        """The name, or the id as text."""
        return self._names.get(topic_id) or str(topic_id)


class _Plan(NamedTuple):
    """The fields of a struct that lead to names or error codes."""

    names: tuple[str, ...]
    ids: tuple[str, ...]
    errors: tuple[str, ...]
    inner: tuple[tuple[str, _Plan], ...]


_NOTHING = _Plan((), (), (), ())


def topic_fields(struct: StructSpec) -> list[str]:
    """The fields of a struct, strings or arrays of them, that name topics."""
    found = []
    for field in struct.fields:
        by_struct = (
            field.name == "name" and "Topic" in struct.name and struct.name not in _NOT_TOPICS
        )
        if "string" in (field.kind, field.element) and (field.name in _TOPIC_FIELDS or by_struct):
            found.append(field.name)
    return found


_plans: dict[type[Message], _Plan] = {}


def _plan_of(cls: type[Message]) -> _Plan:
    if cls not in _plans:
        _plans[cls] = _plan(cls.spec, ())
    return _plans[cls]


def _plan(struct: StructSpec, within: tuple[str, ...]) -> _Plan:
    if struct.name in within:  # a struct may contain itself; what it repeats is left out
        return _NOTHING
    inner = []
    for field in struct.fields:
        if field.struct is not None:
            plan = _plan(field.struct, (*within, struct.name))
            if plan != _NOTHING:
                inner.append((field.name, plan))
    return _Plan(
        tuple(topic_fields(struct)),
        tuple(_named(struct, lambda f: f.name == "topic_id" and f.kind == "uuid")),
        tuple(_named(struct, lambda f: f.name.endswith(_ERROR) and f.kind == "int16")),
        tuple(inner),
    )


def _named(struct: StructSpec, wanted: Callable[[FieldSpec], bool]) -> Iterator[str]:
    return (field.name for field in struct.fields if wanted(field))


def mentions(message: Message, names: TopicNames) -> CapturedMentions:
    """Return the topics and error codes in ``message``; ``names`` learns from it."""
    topics: dict[str, None] = {}
    errors: Counter[str] = Counter()
    _look(message, _plan_of(type(message)), names, topics, errors)
    return CapturedMentions(tuple(topics), errors)


def _look(
    struct: Struct, plan: _Plan, names: TopicNames, topics: dict[str, None], errors: Counter[str]
) -> None:
    named = False
    for field in plan.names:
        for name in _each(getattr(struct, field)):
            topics[name] = None
            named = True
    for field in plan.ids:
        topic_id = getattr(struct, field)
        if topic_id == ZERO_UUID:
            continue
        if named and isinstance(own := getattr(struct, plan.names[0]), str):
            names.learn(topic_id, own)
        else:
            topics[names.name_of(topic_id)] = None
    for field in plan.errors:
        if code := getattr(struct, field):
            errors[error_name(code)] += 1
    for field, inner in plan.inner:
        for one in _each(getattr(struct, field)):
            _look(one, inner, names, topics, errors)


def _each(value: Any) -> list[Any]:
    """The values of a field that may be null, one or many; without empty ones."""
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def error_name(code: int) -> str:
    """Return the name of an error code; a number that is not in the table stands for itself."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"

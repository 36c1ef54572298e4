"""Whole answers: every field of an answer, to be compared with the same answer at another time.

:data:`VARYING` defines all that may differ, with reasons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.codec.dictionary_form import to_dict
from harness.codec.records.compression import CompressionError
from harness.codec.records.errors import RecordsError
from harness.codec.records.value_form import records_value
from harness.codec.structs import Message

WholeAnswers = dict[str, Any]
"""Answers by question; a question begins with the name of the API, or a colon is before the name.
An answer is in the form of :func:`harness.codec.dictionary_form.to_dict`."""

MOST_SHOWN = 5  # differences in a reason
SOON_MS = 10_000


class May(Enum):
    """The way in which a value may differ later."""

    GROW = "grow"
    BE_ANY = "be any"


@dataclass(frozen=True, slots=True)
class Varying:
    """Fields that may differ, as a pattern of names without elements."""

    fields: str
    may: May
    reason: str


VARYING = (
    Varying("*.throttle_time_ms", May.BE_ANY, "it depends on the load of the broker"),
    Varying("DescribeLogDirs*_bytes", May.BE_ANY, "the size and the free part of the disk"),
    Varying("*.documentation", May.BE_ANY, "no protocol defines the text"),
    Varying("Metadata*.leader_epoch", May.GROW, "a new leader begins an epoch"),
    Varying("DescribeTopicPartitions*.leader_epoch", May.GROW, "as in Metadata"),
    Varying("ListOffsets latest*.leader_epoch", May.GROW, "as in Metadata"),
    Varying("Fetch*.current_leader.leader_epoch", May.GROW, "as in Metadata"),
)
"""The first that matches counts."""

IDENTITY = (
    *("name", "topic", "topic_name", "group_id", "member_id", "key", "resource_name", "log_dir"),
    *("partition_index", "partition", "index", "node_id", "broker_id", "producer_id"),
    "entity_type",
)
"""Fields that identify an element of a list, of which it may have some."""

ORDERED = ("*.synonyms", "*.records", "*.headers")
"""Lists with an order; in all others the order is the broker's choice."""


def whole_answer(question: str, answer: Message, version: int) -> WholeAnswers:
    """Return all fields of one answer."""
    return {question: to_dict(answer, version)}


def _items(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Values by path: names of fields, with ``{...}`` for the element of a list."""
    if path.endswith(".records") and isinstance(value, str):
        value = _batches(value)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _items(f"{path}.{name}", inner)
    elif isinstance(value, list):
        names = _element_names(path, value)
        yield f"{path}{{}}", names if _is_ordered(path) else sorted(names)
        for name, inner in zip(names, value, strict=True):
            yield from _items(f"{path}{{{name}}}", inner)
    else:
        yield path, value


def _batches(data: str) -> Any:
    try:
        return records_value(bytes.fromhex(data))
    except (RecordsError, CompressionError) as problem:
        return f"damaged records: {problem}"


def _element_names(path: str, elements: Sequence[Any]) -> list[str]:
    """Return a name for each element: its identity, or its position in an ordered list."""
    if _is_ordered(path):
        return [str(position) for position in range(len(elements))]
    names: list[str] = []
    for element in elements:
        name = _identity(element)
        names.append(f"{name} again" if name in names else name)
    return names


def _identity(element: Any) -> str:
    if not isinstance(element, Mapping):
        return str(element)
    if isinstance(entity := element.get("entity"), list):  # of a client quota
        return " ".join(sorted(f"{one['entity_type']}={one['entity_name']}" for one in entity))
    named = [str(element[name]) for name in IDENTITY if element.get(name) not in (None, "")]
    return " ".join(named) or str(element.get("topic_id", ""))


def expect_same(
    client: BrokerUnderTest, before: WholeAnswers, ask: Callable[[], WholeAnswers], when: str
) -> None:
    """The answers are soon as before: a broker that has just started may not serve all at once."""

    def differences() -> list[str]:
        try:
            return different(before, ask())
        except (BrokerMisbehaved, AssertionError) as problem:
            return [f"{type(problem).__name__}: {problem}"]

    found = client.last_seen(differences, lambda found: not found, SOON_MS)
    more = f"; {len(found) - MOST_SHOWN} more fields differ" if len(found) > MOST_SHOWN else ""
    assert not found, f"{when} {'; '.join(found[:MOST_SHOWN])}{more}"


def different(before: WholeAnswers, after: WholeAnswers) -> list[str]:
    """Return a line for each field that differs and may not."""
    lines: list[str] = []
    for question in before | after:
        old, new = before.get(question, {}), after.get(question, {})
        if old != new:  # as it stands nearly every answer is equal
            lines += _different_fields(dict(_items(question, old)), dict(_items(question, new)))
    return lines


def _different_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    lines = []
    for path in [*before, *(path for path in after if path not in before)]:
        old, new = before.get(path, "absent"), after.get(path, "absent")
        if old != new and not _may_differ(path, old, new):
            lines.append(f"{path} is {_shown(new)}, before {_shown(old)}")
    return lines


def _may_differ(path: str, old: Any, new: Any) -> bool:
    rule = _rule_of(re.sub(r"\{[^}]*\}", "", path))
    if rule is None or "absent" in (old, new):
        return False
    return rule.may is May.BE_ANY or bool(new > old)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}..."


@cache
def _rule_of(fields: str) -> Varying | None:
    return next((rule for rule in VARYING if fnmatchcase(fields, rule.fields)), None)


def _is_ordered(path: str) -> bool:
    fields = re.sub(r"\{[^}]*\}", "", path)
    return any(fnmatchcase(fields, pattern) for pattern in ORDERED)

"""The normal form of answers: it has only the parts that are equal at two correct brokers.

:data:`RULES`, :data:`LISTED` and :data:`ORDERED` define all that is removed, with reasons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any
from uuid import UUID

from harness.codec.records.compression import CompressionError
from harness.codec.records.errors import RecordsError
from harness.codec.records.value_form import records_value
from harness.differential.symbols import (
    NAME,
    NOBODYS_NUMBER,
    NOBODYS_UUID,
    TIME,
    TIME_SPAN_MS,
    Bindings,
)

A_TIME, AN_ADDRESS = "a time", "an address"
_OLDEST_TIME_MS = 1_600_000_000_000
_BATCHES = 2  # the magic of record batches; lower ones are of messages
_KEPT_IDS = (-1, 0, 77, 1 << 30, NOBODYS_NUMBER, NOBODYS_UUID, str(UUID(int=0)), "", "nobody")


@dataclass(frozen=True, slots=True)
class NormalRule:
    """The normal form of all fields that the pattern ``fields`` (``API.path.to.field``) matches."""

    fields: str
    form: Callable[[Any, Bindings], Any]
    reason: str


def _nothing(_value: Any, _bound: Bindings) -> None:
    return None


def _address(value: Any, _bound: Bindings) -> Any:
    return AN_ADDRESS if value not in ("", -1, 0) else value


def _time(value: Any, bound: Bindings) -> Any:
    if not isinstance(value, int) or value < _OLDEST_TIME_MS:
        return value
    since = value - bound.base_ms
    return f"{TIME}:{since}" if 0 <= since <= TIME_SPAN_MS else A_TIME


def _id(kind: str) -> Callable[[Any, Bindings], Any]:
    def form(value: Any, bound: Bindings) -> Any:
        if value is None or value in _KEPT_IDS:
            return value
        if value in bound.said:
            return value.replace(bound.prefix, NAME)
        return bound.symbol_of(kind, value)

    return form


def _records(value: Any, bound: Bindings) -> Any:
    if not value:
        return value
    try:
        batches = records_value(bytes.fromhex(value))
    except (RecordsError, CompressionError) as problem:
        return f"damaged records: {problem}"
    return [_batch(batch, bound) for batch in _without_fill(batches)]


def _without_fill(batches: list[Any]) -> list[Any]:
    """Leave out the end of converted messages, which fills a response to the length of the read.

    How much has to be filled, and whether anything, depends on the size of the compressed messages
    before it, and thereby on the compressor (class LazyDownConversionRecordsSend).
    """
    is_converted = any(
        batch.get("magic", _BATCHES) < _BATCHES and batch["compression"] != "none"
        for batch in batches
    )
    return [batch for batch in batches if not (is_converted and "partial_hex" in batch)]


def _batch(batch: Any, bound: Bindings) -> Any:
    if "partial_hex" in batch:
        return "the beginning of a batch"
    made = {name: inner for name, inner in batch.items() if name != "records"}
    for name in ("base_timestamp", "max_timestamp"):
        made[name] = _time(batch[name], bound)
    made["producer_id"] = _id("producer_id")(batch["producer_id"], bound)
    made["records"] = [
        {k: _time(v, bound) if k.endswith("timestamp") else v for k, v in record.items()}
        for record in batch["records"]
    ]
    return made


_FOR_PEOPLE = "no protocol says its words, or whether there are any"
RULES: tuple[NormalRule, ...] = (
    NormalRule("*.throttle_time_ms", _nothing, "how busy the broker is"),
    NormalRule("*.host", _address, "where it listens"),
    NormalRule("*.port", _address, "where it listens"),
    NormalRule("*.client_host", _address, "where the client is"),
    NormalRule(
        "*.error_message",
        _nothing,
        _FOR_PEOPLE,
    ),
    NormalRule(
        "*.error_string",
        _nothing,
        _FOR_PEOPLE,
    ),
    NormalRule(
        "*.batch_index_error_message",
        _nothing,
        _FOR_PEOPLE,
    ),
    NormalRule("*.documentation", _nothing, _FOR_PEOPLE),
    NormalRule("*.topic_id", _id("topic_id"), "drawn by the broker"),
    NormalRule("*.producer_id", _id("producer_id"), "drawn by the broker"),
    NormalRule("*.member_id", _id("member_id"), "drawn by the broker"),
    NormalRule("JoinGroup.leader", _id("member_id"), "a member's id"),
    NormalRule("*.session_id", _id("session_id"), "drawn by the broker"),
    NormalRule("*.cluster_id", _id("cluster_id"), "drawn when the cluster was made"),
    NormalRule("*.log_dir", _id("log_dir"), "a folder of that machine"),
    NormalRule("DescribeLogDirs.results.*_bytes", _nothing, "how large that machine is"),
    NormalRule("*.records", _records, "compressors write other bytes for the same records"),
    NormalRule("*timestamp*", _time, "the broker's clock"),
    NormalRule("*_time_ms", _time, "the broker's clock"),
)
"""The first that fits counts."""

LISTED: Mapping[str, tuple[str, ...]] = {
    "topics": ("name", "topic_name", "topic"),
    "groups": ("group_id",),
    "transaction_states": ("transactional_id",),
    "config_resources": ("resource_name",),
    "replica_election_results": ("topic",),
    "entries": ("entity_name",),
}
"""Lists that may contain elements of other conversations.

Elements with names that this conversation did not request are left out, and the broker's own
topics.
"""

ORDERED = ("DescribeTopicPartitions.topics", "*_nodes", "*.offsets", "*.old_style_offsets")
"""Lists that have an order by the protocol; in all others it is the broker's choice."""

_SUBJECTS = (
    *("name", "topic", "topic_name", "group_id", "key", "resource_name", "transactional_id"),
    *("partition_index", "partition", "index", "node_id", "broker_id", "api_key"),
)
"""Fields that identify an element of a list."""


_GIVE_EPOCHS = ("InitProducerId", "EndTxn")
"""APIs that give a producer its next epoch."""


def normal_form(api: str, answer: Mapping[str, Any], bound: Bindings) -> Any:
    """Return the answer with its ids as symbols by order of appearance."""
    formed = _Forming(bound).value(_without_others(answer, _own_names(api, bound)), api)
    if api in _GIVE_EPOCHS and not answer.get("error_code"):
        bound.note_epoch(answer.get("producer_id", -1), answer.get("producer_epoch", -1))
    return formed


def _own_names(api: str, bound: Bindings) -> Set[str]:
    """Return the names of this conversation; every one shares the group with the empty name."""
    return bound.said - {""} if api == "ListGroups" else bound.said


def _without_others(value: Any, said: Set[str]) -> Any:
    if isinstance(value, Mapping):
        return {k: _kept(k, _without_others(inner, said), said) for k, inner in value.items()}
    if isinstance(value, list):
        return [_without_others(inner, said) for inner in value]
    return value


def _kept(name: str, value: Any, said: Set[str]) -> Any:
    if not isinstance(value, list) or name not in LISTED:
        return value
    return [one for one in value if not _is_others(one, LISTED[name], said)]


def _is_others(element: Any, names: tuple[str, ...], said: Set[str]) -> bool:
    if not isinstance(element, Mapping):
        return False
    called = [text for name in names for text in _texts(element, name)]
    return bool(called) and not any(one in said for one in called)


def _texts(element: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the texts of this name in the element, and in the structs of its lists."""
    if isinstance(element.get(name), str):
        yield element[name]
    for inner in element.values():
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, Mapping) and isinstance(one.get(name), str):
                yield one[name]


class _Forming:
    """Forms one answer."""

    def __init__(self, bound: Bindings) -> None:
        self.bound = bound

    def value(self, value: Any, path: str) -> Any:
        rule = _rule_for(path)
        if rule is not None:
            return rule.form(value, self.bound)
        if isinstance(value, Mapping):
            return {key: self.value(inner, f"{path}.{key}") for key, inner in value.items()}
        if isinstance(value, list):
            in_order = value if _has_order(path) else sorted(value, key=self._sort_key)
            return [self.value(inner, path) for inner in in_order]
        if isinstance(value, str):
            return value.replace(self.bound.prefix, NAME)
        return value

    def _sort_key(self, value: Any) -> str:
        """Return a sort key: the identity of the element, then all but new ids and times."""
        names = []
        if isinstance(value, Mapping):
            names = [[kind, value[kind]] for kind in _SUBJECTS if value.get(kind) is not None]
        return json.dumps([names, self._comparable(value, "")], sort_keys=True)

    def _comparable(self, value: Any, path: str) -> Any:
        if isinstance(value, Mapping):
            return {k: self._comparable(inner, f"{path}.{k}") for k, inner in value.items()}
        if isinstance(value, list):
            return sorted((self._comparable(inner, path) for inner in value), key=json.dumps)
        rule = _rule_for(path)
        if rule is None or rule.form is _records:
            return value
        return None if rule.form in (_nothing, _address, _time) else self._known_id(value)

    def _known_id(self, value: Any) -> Any:
        """Return an id that the client has sent or received before; None for a new one."""
        if value in _KEPT_IDS or value in self.bound.said:
            return value
        found = [(kind, ids.index(value)) for kind, ids in self.bound.ids.items() if value in ids]
        return found[0] if found else None


@cache
def _rule_for(path: str) -> NormalRule | None:
    return next((rule for rule in RULES if fnmatchcase(path, rule.fields)), None)


@cache
def _has_order(path: str) -> bool:
    return any(fnmatchcase(path, name) for name in ORDERED)

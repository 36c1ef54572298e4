"""The frames that a rule applies to, read from the keys of the rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from harness.codec.apis import APIS
from harness.codec.structs import Message
from harness.codec.versions import VersionRange
from harness.proxies.direction import Direction
from harness.proxies.rules import conditions as c
from harness.proxies.rules.conditions import Condition
from harness.proxies.rules.errors import RuleError, unknown
from harness.proxies.rules.field_path import FieldPath, find_fields
from harness.proxies.rules.frame_view import FrameView
from harness.proxies.rules.scope import Scope
from harness.proxies.rules.topic_ids import TopicIds
from harness.proxies.rules.values import INT32, Read, choice, integer, one_or_more, table, text
from harness.proxies.rules.wanted import WantedFrames, read_wanted

DIRECTIONS = {"request": Direction.UPSTREAM, "response": Direction.DOWNSTREAM}
_BY_NAME = {api.name: key for key, api in APIS.items()}


@dataclass(frozen=True, slots=True)
class Match:
    """``build`` returns the conditions for the topic ids that a rule set knows.

    They stand in an order in which a miss at a later one is nearer.
    """

    scope: Scope
    build: Callable[[TopicIds], tuple[Condition, ...]]
    needs_topic_names: bool


def _api(value: Any) -> int:
    if isinstance(value, str):
        if value not in _BY_NAME:
            raise unknown("API", value, _BY_NAME)
        return _BY_NAME[value]
    return integer(0, 2**15 - 1)(value)


def _versions(value: Any) -> VersionRange:
    if type(value) is int and value >= 0:
        return VersionRange(value, value)
    try:
        return VersionRange.parse(value)
    except (ValueError, TypeError):
        raise RuleError(f'must be a version or versions, as 3, "1-4", "2+"; is {value!r}') from None


def _topic_id(value: Any) -> str:
    try:
        return str(UUID(text(value)))
    except ValueError:
        raise RuleError(f"must be a UUID, 8-4-4-4-12 hex digits; is {value!r}") from None


def _node(value: Any) -> str:
    """A broker id may be given as a number."""
    return str(value) if type(value) is int and value >= 0 else text(value)


MATCH_WORDS: dict[str, Read[Any]] = {
    "on": choice("kind of frame", DIRECTIONS),
    "source": one_or_more(_node),
    "destination": one_or_more(_node),
    "api": one_or_more(_api),
    "version": _versions,
    "correlation_id": one_or_more(integer(*INT32)),
    "client_id": one_or_more(text),
    "topic": one_or_more(text),
    "topic_id": one_or_more(_topic_id),
    "partition": one_or_more(integer(0, INT32[1])),
    "group": one_or_more(text),
    "transactional_id": one_or_more(text),
    "replica_id": one_or_more(integer(*INT32)),
    "field": table,
    "request_field": table,
}
"""The keys of a rule that select the frames that it applies to, with their readers."""


def read_match(words: Mapping[str, Any]) -> Match:
    """Read the keys of ``MATCH_WORDS`` that a rule has. Raises RuleError."""
    read: dict[str, Any] = {}
    for name, value in words.items():
        try:
            read[name] = MATCH_WORDS[name](value)
        except RuleError as error:
            raise error.under(name) from None
    scope = Scope(
        DIRECTIONS[read["on"]] if "on" in read else None,
        frozenset(read["api"]) if "api" in read else None,
        read.get("version"),
    )
    _check_versions(scope)
    fields = _fields(read, scope)

    def build(ids: TopicIds) -> tuple[Condition, ...]:
        return (*_plain(read, scope), *_spoken_of(read, ids), *fields)

    return Match(scope, build, "topic" in read)


def _check_versions(scope: Scope) -> None:
    for api in scope.apis if scope.api_keys and scope.versions else ():
        if not scope.versions_of(api.request):
            raise RuleError(
                f"{api.name} has versions {api.valid_versions}, not {scope.versions}", "version"
            )


def _plain(read: Mapping[str, Any], scope: Scope) -> list[Condition]:
    """Return the conditions on the header and the link."""
    made: list[Condition] = []
    if scope.api_keys is not None:
        keys = scope.api_keys
        names = c.listed(APIS[key].name if key in APIS else key for key in sorted(keys))
        made.append(Condition("API", names, lambda f: f.api_key in keys, lambda f: f.api_name))
    if scope.versions is not None:
        versions = scope.versions
        made.append(Condition("version", str(versions), lambda f: f.version in versions,
                              lambda f: str(f.version)))  # fmt: skip
    simple: dict[str, Callable[[FrameView], Any]] = {
        "source": lambda f: f.place.source,
        "destination": lambda f: f.place.destination,
        "correlation_id": lambda f: f.correlation_id,
    }
    made += [c.value_in(name, read[name], get) for name, get in simple.items() if name in read]
    if "client_id" in read:
        made.append(c.text_like("client_id", read["client_id"], lambda f: (f.client_id,)))
    return made


def _spoken_of(read: Mapping[str, Any], ids: TopicIds) -> list[Condition]:
    made = []
    if not {"topic", "topic_id", "partition"}.isdisjoint(read):
        found = (read.get(name, ()) for name in ("topic", "topic_id", "partition"))
        made.append(c.Topics(ids, *found).condition())
    if "group" in read:
        made.append(c.text_like("group", read["group"], c.groups))
    if "transactional_id" in read:
        made.append(c.text_like("transactional_id", read["transactional_id"], c.transactional_ids))
    if "replica_id" in read:
        wanted = read["replica_id"]
        made.append(Condition("replica_id", c.listed(wanted),
                              lambda f: any(one in wanted for one in c.replicas(f)),
                              lambda f: c.listed(c.replicas(f))))  # fmt: skip
    return made


def _fields(read: Mapping[str, Any], scope: Scope) -> list[Condition]:
    kinds: tuple[tuple[str, list[type[Message]], c.Bodies], ...] = (
        ("request_field", list(scope.requests()), lambda f: f.request.message),
        ("field", list(scope.classes()), lambda f: f.message),
    )
    made = []
    for word, classes, body in kinds if not {"field", "request_field"}.isdisjoint(read) else ():
        for path, value in read.get(word, {}).items():
            try:
                wanted = _wanted(path, value, classes)
            except RuleError as error:
                raise error.under(word, path) from None
            made.append(c.field_is(path, wanted, body))
    return made


def _wanted(
    path: str, value: Any, classes: list[type[Message]]
) -> dict[type[Message], tuple[list[FieldPath], WantedFrames]]:
    """Return paths and wanted value for the messages that have the path; one of them must."""
    return {
        cls: (found, read_wanted(value, found[0].field))
        for cls, found in fields_in(classes, path).items()
    }


def fields_in(classes: list[type[Message]], path: str) -> dict[type[Message], list[FieldPath]]:
    """Return the paths for the messages that have the field.

    Raises RuleError, that of the first message, when none of them has such a field.
    """
    found, problem = {}, None
    for cls in classes:
        try:
            found[cls] = find_fields(cls, path)
        except RuleError as error:
            problem = problem or error
    if found:
        return found
    if len(classes) > 2 and problem:
        raise RuleError(f'no message that the rule can meet has "{path}"; {problem.problem}')
    raise problem or RuleError("needs an API that is known")

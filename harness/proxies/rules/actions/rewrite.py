"""Fields of the message have other values; everything else stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from harness.codec import EncodeError
from harness.codec.dictionary_form import from_dict
from harness.codec.specs import INT_RANGES, FieldSpec
from harness.codec.structs import Message
from harness.proxies.rules.actions.action import Occasion, RuleAction, payload_of, send, setting
from harness.proxies.rules.body import open_body
from harness.proxies.rules.errors import RuleError, Skip
from harness.proxies.rules.field_path import FieldPath, find_fields
from harness.proxies.rules.match import fields_in
from harness.proxies.rules.scope import Scope
from harness.proxies.rules.values import error_number, integer, is_error_code, table
from harness.proxies.step import Step

ADD = "add"
NULL = {"null": True}  # TOML has no null


@dataclass(frozen=True, slots=True)
class Rewrite(RuleAction):
    """Paths of fields and their new values, in the dictionary form.

    An error code may also be given by its name; ``{add = 1}`` adds to the value that the field has,
    ``{null = true}`` is null. Of several versions and messages those are rewritten that have the
    field; the others are skipped.
    """

    name = "rewrite"
    changes: tuple[tuple[str, Any], ...] = setting(table)

    @classmethod
    def read(cls, value: Any) -> Self:
        return cls(tuple(table(value).items()))

    def check(self, scope: Scope) -> None:
        for path, value in self.changes:
            try:
                self._check_one(scope, path, value)
            except RuleError as error:
                raise error.under(path) from None

    def _check_one(self, scope: Scope, path: str, value: Any) -> None:
        """Raise RuleError unless some message that the rule can meet is able to carry the value."""
        problem: RuleError | None = None
        for cls, found in fields_in(list(scope.classes()), path).items():
            for field in found:
                try:
                    _carried(cls, field, value, scope.versions_of(cls))
                except RuleError as error:
                    problem = problem or error
                else:
                    return
        raise problem or RuleError("no version can carry it")

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        payload = payload_of(data)
        body = open_body(occasion.frame, payload)
        form = body.form()
        changed = 0
        for path, value in self.changes:
            for field in _fields(type(body.message), path):
                changed += field.change(form, _new(value, field.field))
        if not changed:
            raise Skip("none of the fields is in it")
        rewritten = body.with_form(form)
        if rewritten == payload:
            raise Skip("the fields have these values already")
        return send(rewritten)


@lru_cache(maxsize=1024)
def _fields(cls: type[Message], path: str) -> tuple[FieldPath, ...]:
    """Return the paths in messages of the class; none where these have no such field."""
    try:
        return tuple(find_fields(cls, path))
    except RuleError:
        return ()


def _new(value: Any, field: FieldSpec) -> Callable[[Any], Any]:
    """Return a function from the old value to the new one. Raises RuleError."""
    if isinstance(value, Mapping) and set(value) == {ADD}:
        kind = field.element if field.kind == "array" else field.kind
        if kind not in INT_RANGES:
            raise RuleError(f"{field.name} is {kind}, nothing can be added")
        more = integer(-(2**63))(value[ADD])
        return lambda old: old + more
    if value == NULL:
        return lambda _old: None
    if is_error_code(field.name):
        number = error_number(value)
        return lambda _old: number
    return lambda _old: value


def _carried(cls: type[Message], path: FieldPath, value: Any, versions: Sequence[int]) -> None:
    """Raises RuleError when none of the versions can carry the value there."""
    new = _new(value, path.field)
    relative = isinstance(value, Mapping) and ADD in value  # what it will be is not known yet
    form = path.skeleton(0 if relative else new(None))
    problems = list(_problems(cls, form, versions))
    if len(problems) == len(versions):
        raise RuleError(problems[-1] if problems else "no version of the message can come")


def _problems(cls: type[Message], form: dict[str, Any], versions: Sequence[int]) -> Iterator[str]:
    for version in versions:
        try:
            from_dict(cls, version, form)
        except EncodeError as error:
            yield str(error)

"""The forms that targets sent, collected as the rows of the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from harness.codec.versions import VersionRange
from harness.conformance.dated import ReleaseNumbers
from harness.conformance.kafka_name import PREFIX, kafka_name
from harness.differential.conversation import ConversationStep
from harness.oracle.null_forms import (
    NullForm,
    SeenForm,
    apis_with_nullable_fields,
    nullable_fields,
)
from harness.oracle.null_table import NOTHING, NullRow, Place


@dataclass(slots=True)
class _Seen:
    """The observations of one field in one state. ``targets``: in order of observation."""

    versions: set[int] = field(default_factory=set)
    targets: dict[NullForm, list[str]] = field(default_factory=dict)


class ObservedForms:
    """Begins with the rows of an earlier table."""

    def __init__(self, known: Iterable[NullRow]) -> None:
        self._seen: dict[Place, _Seen] = {}
        for row in known:
            if row.versions is not None:
                seen = self._seen[row.api, row.field, row.beside] = _Seen(set(row.versions))
                seen.targets = {form: list(targets) for form, targets in row.seen.items()}

    def forget(self, target: str, apis: Collection[str]) -> None:
        """Remove a target from the rows of these APIs, before it is observed again."""
        for seen in [seen for (api, *_), seen in self._seen.items() if api in apis]:
            for targets in seen.targets.values():
                targets[:] = [one for one in targets if one != target]

    def add(self, target: str, step: ConversationStep, forms: Iterable[SeenForm]) -> None:
        """Add the forms in the response to one step."""
        for one in forms:
            seen = self._seen.setdefault((step.api, one.field, one.beside), _Seen())
            seen.versions.add(step.version)
            targets = seen.targets.setdefault(one.form, [])
            if target not in targets:
                targets.append(target)

    def rows(self) -> list[NullRow]:
        """Return a row for each state that was seen, and one for each field that no target sent.

        In the order of the API keys, of the fields in the message, and of the states' names.
        """
        rows = []
        for api in apis_with_nullable_fields():
            for path in nullable_fields(api):
                rows += self._rows_of(api, path) or [NullRow(api, path, NOTHING, None)]
        return rows

    def _rows_of(self, api: str, path: str) -> list[NullRow]:
        found = [(place, seen) for place, seen in self._seen.items() if place[:2] == (api, path)]
        return [
            NullRow(*place, _range(seen), {form: _sorted(seen.targets[form]) for form in forms})
            for place, seen in sorted(found, key=lambda pair: pair[0])
            if (forms := [form for form in NullForm if seen.targets.get(form)])
        ]


def _sorted(targets: list[str]) -> tuple[str, ...]:
    """By release, then by mode."""
    return tuple(sorted(targets, key=_release_and_mode))


def _release_and_mode(target: str) -> tuple[ReleaseNumbers, str]:
    name = kafka_name(f"{PREFIX}{target}")
    return (name.numbers if name else ()), target


def _range(seen: _Seen) -> VersionRange:
    return VersionRange(min(seen.versions), max(seen.versions))

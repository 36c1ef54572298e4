"""A rule: its frames, a selection of them, its schedule and its action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.proxies.rules.actions import ACTIONS
from harness.proxies.rules.actions.action import RuleAction
from harness.proxies.rules.errors import RuleError, unknown
from harness.proxies.rules.match import MATCH_WORDS, Match, read_match
from harness.proxies.rules.occurrences import OCCURRENCE_WORDS, Occurrences, read_occurrences
from harness.proxies.rules.schedule import SCHEDULE_WORDS, Schedule, read_schedule
from harness.proxies.rules.values import Read, flag, text

_OTHER_WORDS: dict[str, Read[Any]] = {"id": text, "go_on": flag}
WORDS: tuple[str, ...] = (
    *_OTHER_WORDS, *MATCH_WORDS, *OCCURRENCE_WORDS, *SCHEDULE_WORDS, *ACTIONS,
)  # fmt: skip
"""All keys that a rule may have."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, of ``read_rule`` or of a sentence in Python; ``words`` are the keys behind it.

    ``go_on``: rules after this one may act on the same frame too.
    """

    id: str
    words: Mapping[str, Any]
    match: Match
    occurrences: Occurrences
    schedule: Schedule
    action: RuleAction
    go_on: bool = False

    @property
    def rules_named(self) -> dict[tuple[str, ...], str]:
        """The other rules that it names, by the key that names them."""
        named: dict[tuple[str, ...], str] = {
            (word,): fired.rule for word, fired in self.schedule.rules.items()
        }
        if self.action.waits_for:
            named[(self.action.name, "until")] = self.action.waits_for
        return named

    def __str__(self) -> str:
        return self.id


def read_rule(words: Mapping[str, Any]) -> Rule:
    """Read a rule from its keys, as in TOML or JSON. Raises RuleError with the key."""
    for word in words:
        if word not in WORDS:
            raise unknown("key of a rule", word, WORDS, str(word))
    other = {name: _read(name, words[name], read) for name, read in _OTHER_WORDS.items()
             if name in words}  # fmt: skip
    match = read_match(_those(words, MATCH_WORDS))
    action = _action(words)
    _under(action.name, lambda: action.check(match.scope))
    rule = Rule(
        other.get("id") or sentence_of(words),
        dict(words),
        match,
        read_occurrences(_those(words, OCCURRENCE_WORDS)),
        read_schedule(_those(words, SCHEDULE_WORDS)),
        action,
        other.get("go_on", False),
    )
    if rule.go_on and action.keeps:
        raise RuleError(f"nothing can be done to a frame behind {action.name}", "go_on")
    for place, named in rule.rules_named.items():
        if named == rule.id:
            raise RuleError("a rule cannot wait for itself", *place)
    return rule


def sentence_of(words: Mapping[str, Any]) -> str:
    """The id of a rule that has none: ``response Produce topic=orders nth=2 drop``."""
    return " ".join(map(_in_words, words, words.values()))[:_LONGEST_ID]


def _in_words(name: str, value: Any) -> str:
    if value is True:
        return name
    shown = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return shown if name in ("on", "api") else f"{name}={shown}"


_LONGEST_ID = 120


def _those(words: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in words.items() if name in names}


def _read(name: str, value: Any, read: Read[Any]) -> Any:
    return _under(name, lambda: read(value))


def _under(name: str, call: Callable[[], Any]) -> Any:
    """Return the result of the call; its RuleError gets this key."""
    try:
        return call()
    except RuleError as error:
        raise error.under(name) from None


def _action(words: Mapping[str, Any]) -> RuleAction:
    given = [name for name in words if name in ACTIONS]
    if not given:
        raise RuleError(f"has no action; one of {', '.join(ACTIONS)} is needed")
    if len(given) > 1:
        raise RuleError(
            f"has two actions, {given[0]} and {given[1]}; write two rules, the first with "
            "go_on = true",
            given[1],
        )
    made: RuleAction = _read(given[0], words[given[0]], ACTIONS[given[0]].read)
    return made

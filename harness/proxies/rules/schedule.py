"""The schedule of a rule: its start, its duration and its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.proxies.rules.errors import RuleError, unknown
from harness.proxies.rules.values import Read, integer, milliseconds, table, text


@dataclass(frozen=True, slots=True)
class Fired:
    """The condition that another rule has fired so often."""

    rule: str
    times: int = 1


def _fired(value: Any) -> Fired:
    """``"other"`` or ``{rule = "other", times = 2}``."""
    if isinstance(value, str):
        return Fired(text(value))
    given = table(value)
    for key in given:
        if key not in ("rule", "times"):
            raise unknown("setting", key, ("rule", "times"))
    if "rule" not in given:
        raise RuleError("needs the id of a rule, as rule = ...")
    return Fired(text(given["rule"]), integer(1)(given.get("times", 1)))


SCHEDULE_WORDS: dict[str, Read[Any]] = {
    "after_ms": milliseconds,
    "for_ms": milliseconds,
    "after_frames": integer(1),
    "after_rule": _fired,
    "until_rule": _fired,
}
"""The keys of a rule that set its schedule, with their readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A rule is at work from ``after_ms`` since it was armed, for ``for_ms``.

    ``after_frames``: once so many frames have passed in the rule's direction (counted as its
    occurrences are). ``after_rule``, ``until_rule``: from and until another rule has fired.
    """

    after_ms: float = 0.0
    for_ms: float = float("inf")
    after_frames: int = 0
    after_rule: Fired | None = None
    until_rule: Fired | None = None

    @property
    def rules(self) -> dict[str, Fired]:
        """The conditions that name another rule, by key."""
        both = {"after_rule": self.after_rule, "until_rule": self.until_rule}
        return {word: fired for word, fired in both.items() if fired}

    def is_open(self, since_armed_ms: float, fired: Mapping[str, int]) -> bool:
        """True if times and other rules allow it. ``fired``: the number of firings of each rule."""
        if not self.after_ms <= since_armed_ms < self.after_ms + self.for_ms:
            return False
        if self.after_rule and fired.get(self.after_rule.rule, 0) < self.after_rule.times:
            return False
        return not self.until_rule or fired.get(self.until_rule.rule, 0) < self.until_rule.times


def read_schedule(words: Mapping[str, Any]) -> Schedule:
    """Read the keys of ``SCHEDULE_WORDS`` that a rule has. Raises RuleError."""
    read = {}
    for name, value in words.items():
        try:
            read[name] = SCHEDULE_WORDS[name](value)
        except RuleError as error:
            raise error.under(name) from None
    return Schedule(**read)

"""`ssl.principal.mapping.rules`: the user that a client's certificate stands for.

A rule is ``DEFAULT``, the whole distinguished name, or ``RULE:pattern/replacement/`` with ``L`` or
``U`` behind for lower or upper case; the first rule that matches the whole name counts. Source:
KIP-371, class SslPrincipalMapper.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from harness.reference_broker.settings import SettingError

_RULE = re.compile(
    r"(?P<default>DEFAULT)"
    r"|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<replacement>(?:\\.|[^\\/])*)/(?P<letters>[LU]?)"
)
_SEPARATOR = re.compile(r"\s*,\s*")
_GROUP = re.compile(r"\$(\d)")
_LETTERS: dict[str, Callable[[str], str]] = {"L": str.lower, "U": str.upper, "": str}


class NoRuleMatches(Exception):
    """No rule gives the name a user; Kafka closes the connection then."""


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    replacement: str
    letters: str

    def user_of(self, name: str) -> str | None:
        if not self.pattern.fullmatch(name):
            return None
        return _LETTERS[self.letters](self.pattern.sub(self.replacement, name, count=1))


class PrincipalRules:
    """The rules of a listener."""

    def __init__(self, text: str) -> None:
        """Raises SettingError: the text has another form."""
        self._rules = list(_parsed(text.strip() or "DEFAULT"))

    def user_of(self, name: str) -> str:
        """Return the user of a distinguished name. Raises NoRuleMatches."""
        for rule in self._rules:
            user = rule.user_of(name)
            if user is not None:
                return user
        raise NoRuleMatches


def _parsed(text: str) -> list[_Rule]:
    rules, at = [], 0
    while at < len(text):
        found = _RULE.match(text, at)
        if found is None:
            raise _wrong(text)
        rules.append(_rule(found, text))
        at = found.end()
        separator = _SEPARATOR.match(text, at)
        if separator is None and at < len(text):
            raise _wrong(text)
        at = separator.end() if separator else at
    return rules


def _rule(found: re.Match[str], text: str) -> _Rule:
    if found["default"]:
        return _Rule(re.compile(".*", re.DOTALL), r"\g<0>", "")
    replacement = _GROUP.sub(r"\\g<\1>", found["replacement"].replace("\\", "\\\\"))
    try:
        return _Rule(re.compile(found["pattern"]), replacement, found["letters"])
    except re.error:
        raise _wrong(text) from None


def _wrong(text: str) -> SettingError:
    return SettingError(
        f"ssl.principal.mapping.rules is DEFAULT, or RULE:pattern/replacement/[LU], not {text!r}"
    )

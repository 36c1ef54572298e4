"""Errors of rules, and the reason why an action does nothing."""

from __future__ import annotations

from collections.abc import Iterable

from harness.base.suggestion import did_you_mean


class RuleError(ValueError):
    """A rule that cannot be armed. ``key``: where in the rule, as ``("reorder", "window")``."""

    def __init__(self, problem: str, *key: str) -> None:
        super().__init__(problem)
        self.problem, self.key = problem, key

    def under(self, *key: str) -> RuleError:
        """The same, seen from further out."""
        return RuleError(self.problem, *key, *self.key)

    def __str__(self) -> str:
        return f"{'.'.join(self.key)}: {self.problem}" if self.key else self.problem


class Skip(Exception):
    """Raised by an action that cannot be done to this frame; it goes on as it came."""


class RuleDidNotFire(AssertionError):
    """An expected fault did not happen; the text contains what its rule saw instead."""


class RulesSeeNothing(Exception):
    """Rules are armed, and a client speaks TLS that passes the proxy: no rule can strike it."""

    def __init__(self) -> None:
        super().__init__(TLS_PASSES)


TLS_PASSES = (
    "the client speaks TLS, which passes as bytes: rules see its frames only where TLS ends at the "
    "proxy (--end-tls of `proxy`, ends_tls of `proxied`, tls of `Proxy`)"
)


def unknown(kind: str, name: object, known: Iterable[str], *key: str) -> RuleError:
    """``no API "Prodce" - did you mean "Produce"?``; all that are known where none is near."""
    names = list(known)
    near = did_you_mean(str(name), names)
    if not near:
        shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        near = f"; known: {shown}" if names else ""
    return RuleError(f'no {kind} "{name}"{near}', *key)


_SHOWN = 30

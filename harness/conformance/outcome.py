"""Conversion of an exception to a verdict, by the side that caused it: target, check or harness."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import PurePath

from harness.conformance.verdict import Verdict

REASON_LIMIT_CHARS = 4000

_DOES_NOT_HOLD = {
    "MUST": Verdict.FAILED,
    "SHOULD": Verdict.WARNING,
    "MAY": Verdict.PASSED,  # both ways conform; the reason says which way it went
}


class Inconclusive(Exception):
    """The broker answered, and the answer proves nothing; the message is the reason."""


class NotSupported(Exception):
    """The broker's own ApiVersions lacks a feature; the message names it."""


class NotApplicable(Exception):
    """The target lacks a capability that the test needs."""

    def __init__(self, capability: str, reason: str | None = None) -> None:
        super().__init__(reason or f'the target lacks the capability "{capability}"')
        self.capability = capability


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """A verdict with its reason.

    Attributes:
        verdict: the result of the check.
        reason: why, empty only for a plain pass.
        capability_missing: for not_applicable.
        did_not_hold: the expectation was violated, at any level.
    """

    verdict: Verdict
    reason: str = ""
    capability_missing: str | None = None
    did_not_hold: bool = False


class _Registered:
    broker_faults: tuple[type[BaseException], ...] = ()
    failed_preparations: tuple[type[BaseException], ...] = ()
    not_supported: tuple[type[BaseException], ...] = (NotSupported,)
    missing_capabilities: tuple[type[BaseException], ...] = (NotApplicable,)


def register_broker_fault(*types: type[BaseException]) -> None:
    """Register the exceptions that mean that the broker misbehaved.

    This package may not import the client, so the code that connects both registers them.
    """
    _Registered.broker_faults = tuple(dict.fromkeys((*_Registered.broker_faults, *types)))


def register_failed_preparation(*types: type[BaseException]) -> None:
    """Register the exceptions that mean that a test could not prepare its check.

    They prove nothing about the requirement, wherever they are raised.
    """
    known = _Registered.failed_preparations
    _Registered.failed_preparations = tuple(dict.fromkeys((*known, *types)))


def register_not_supported(*types: type[BaseException]) -> None:
    """Register the exceptions that mean not_supported: the broker itself reports that."""
    known = _Registered.not_supported
    _Registered.not_supported = tuple(dict.fromkeys((*known, *types)))


def register_missing_capability(*types: type[BaseException]) -> None:
    """Register the exceptions that mean not_applicable; each carries the name in ``capability``."""
    known = _Registered.missing_capabilities
    _Registered.missing_capabilities = tuple(dict.fromkeys((*known, *types)))


def classify_in_check(error: BaseException, level: str) -> CheckOutcome:
    """Return the outcome of an exception that a check's body raised.

    An assertion or a registered broker fault means that the requirement does not hold. A failed
    preparation proves nothing, also if it is a broker fault.
    """
    if isinstance(error, _Registered.failed_preparations):
        return CheckOutcome(Verdict.INCONCLUSIVE, describe(error))
    if isinstance(error, (AssertionError, *_Registered.broker_faults)):
        return CheckOutcome(_DOES_NOT_HOLD[level], describe(error), did_not_hold=True)
    return _own_words(error) or CheckOutcome(Verdict.HARNESS_ERROR, describe(error))


def classify_outside(error: BaseException) -> CheckOutcome:
    """Return the outcome of an exception outside of any check, for an id without a check.

    A broker fault there proves nothing about the id. An assertion there is a mistake in the suite:
    every expectation belongs into a check.
    """
    if isinstance(error, _Registered.broker_faults):
        return CheckOutcome(Verdict.INCONCLUSIVE, f"outside of any check: {describe(error)}")
    own = _own_words(error)
    if own is not None:
        return own
    return CheckOutcome(Verdict.HARNESS_ERROR, f"outside of any check: {describe(error)}")


def says_why_not(error: BaseException) -> bool:
    """True if an exception is no failure but names the reason why a test cannot ask."""
    return isinstance(error, (*_Registered.not_supported, *_Registered.missing_capabilities))


def _own_words(error: BaseException) -> CheckOutcome | None:
    if isinstance(error, Inconclusive):
        return CheckOutcome(Verdict.INCONCLUSIVE, describe(error))
    if isinstance(error, _Registered.not_supported):
        return CheckOutcome(Verdict.NOT_SUPPORTED, describe(error))
    if isinstance(error, _Registered.missing_capabilities):
        capability = getattr(error, "capability", None)
        if not isinstance(capability, str) or not capability:
            reason = f"{type(error).__name__} names no capability: {error}"
            return CheckOutcome(Verdict.HARNESS_ERROR, reason)
        return CheckOutcome(Verdict.NOT_APPLICABLE, describe(error), capability)
    return None


def describe(error: BaseException) -> str:
    """The message of an exception, with its type unless that is plain, cut at a limit.

    An exception without a message is described by where it was raised. What UTF-8 cannot carry
    (half of a surrogate pair) is escaped.
    """
    text = (str(error).strip() or _place(error)).encode("utf-8", "backslashreplace").decode()
    if not isinstance(error, (AssertionError, Inconclusive, NotSupported, NotApplicable)):
        text = f"{type(error).__name__}: {text}"
    if len(text) > REASON_LIMIT_CHARS:
        cut = len(text) - REASON_LIMIT_CHARS
        text = f"{text[:REASON_LIMIT_CHARS]} ... ({cut} more characters)"
    return text


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "no message"
    last = frames[-1]
    return f"no message, raised in {PurePath(last.filename).name} line {last.lineno}: {last.line}"

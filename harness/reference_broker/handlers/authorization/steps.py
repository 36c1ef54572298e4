"""The steps before a handler: a request is refused as a whole, or without some of its parts.

A step gets the request, and the function that carries out what it leaves of the request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.outcome import (
    Answer,
    Outcome,
    PurgatoryWait,
    RequestContext,
)
from harness.reference_broker.state.acls.acl import AclResource

Following = Callable[[Any], Outcome]
Step = Callable[[Any, RequestContext, Following], Outcome]
Check = Callable[[Any, RequestContext], "ErrorCode | None"]
"""Returns the error of a request, or of a part of one; None if the client has the right."""
Refusal = Callable[[Any, ErrorCode, RequestContext], Any]
"""Returns the response to a refused request, or the result of a refused part."""
ERROR_OF = {
    rights.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    rights.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    rights.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    rights.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


def needs(operation: int, resource: AclResource, named: Callable[[Any], str]) -> Check:
    """Return the check of a right with the resource that `named` finds."""

    def check(asked: Any, context: RequestContext) -> ErrorCode | None:
        allowed = rights.may(context, operation, resource, named(asked))
        return None if allowed else ERROR_OF[resource]

    return check


def needs_cluster(*operations: int) -> Check:
    """Return the check of any of these rights with the cluster."""

    def check(_: Any, context: RequestContext) -> ErrorCode | None:
        allowed = any(rights.may_cluster(context, each) for each in operations)
        return None if allowed else ErrorCode.CLUSTER_AUTHORIZATION_FAILED

    return check


def needs_topic(operation: int) -> Check:
    """Return the check of a right with a topic that is named, or has an id that is known.

    Of an unknown id nothing is secret: the handler finds its error.
    """

    def check(topic: Any, context: RequestContext) -> ErrorCode | None:
        name = name_of(topic, context)
        allowed = name is None or rights.may(context, operation, rights.TOPIC, name)
        return None if allowed else ErrorCode.TOPIC_AUTHORIZATION_FAILED

    return check


def name_of(topic: Any, context: RequestContext) -> str | None:
    """Return the name of a topic in a request; None of an unknown id."""
    if topic.name or not getattr(topic, "topic_id", None):
        return str(topic.name)
    known = context.state.cluster.with_id(topic.topic_id)
    return None if known is None else known.name


def whole(*checks: Check, refusal: Refusal) -> Step:
    """Return the step that refuses a whole request: the error of the first check that fails."""

    def step(request: Any, context: RequestContext, following: Following) -> Outcome:
        for check in checks:
            error = check(request, context)
            if error is not None:
                return Answer(refusal(request, error, context))
        return following(request)

    return step


def parts(
    array: str,
    check: Check,
    refusal: Refusal,
    response: type[Message],
    results: str,
    once: Callable[[Any], Any] | None = None,
    once_since: tuple[int, ...] = (),
) -> Step:
    """Return the step that takes the refused parts out of a request.

    Their results stand behind those of the others. `once`: the key of a part; parts with the same
    key are left to the handler, which refuses them from the release `once_since` on.
    """

    def step(request: Any, context: RequestContext, following: Following) -> Outcome:
        asked = getattr(request, array) or []
        keys = list(map(once, asked)) if once and context.state.like.since(*once_since) else []
        twice = {key for key, times in Counter(keys).items() if times > 1}
        errors = [
            None if keys and keys[at] in twice else check(part, context)
            for at, part in enumerate(asked)
        ]
        if not any(errors):
            return following(request)
        pairs = list(zip(asked, errors, strict=True))
        refused = [refusal(part, error, context) for part, error in pairs if error is not None]
        left = [part for part, error in pairs if error is None]
        setattr(request, array, left)
        if not left:
            made: Any = response
            return Answer(made(**{results: refused}))

        def add(message: Any) -> Any:
            setattr(message, results, [*getattr(message, results), *refused])
            return message

        return mapped(following(request), add)

    return step


def mapped(outcome: Outcome, change: Callable[[Any], Any]) -> Outcome:
    """Return the outcome with its message changed, also after a wait."""
    if isinstance(outcome, Answer):
        return Answer(change(outcome.message))
    if not isinstance(outcome, PurgatoryWait):
        return outcome
    attempt, at_deadline = outcome.attempt, outcome.at_deadline

    def attempted() -> Message | None:
        message = attempt()
        return None if message is None else change(message)

    ended = None if at_deadline is None else lambda: change(at_deadline())
    return PurgatoryWait(outcome.keys, outcome.deadline, attempted, ended)

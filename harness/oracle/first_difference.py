"""The first difference in conversations that occurs again, and its text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.differential.comparison import ConversationComparison, FoundDifference
from harness.differential.conversation import Conversation

LEAST_UNREPEATED = 3


def first_difference(
    comparison: ConversationComparison, conversations: Iterator[Conversation], exchanges: int
) -> FoundDifference | None:
    """Return the first difference, shrunk; None without one.

    ``exchanges``: so many are compared, and the rest of the conversation that is begun. A
    difference that does not occur again counts from the :data:`LEAST_UNREPEATED`-th on: one may
    come from other traffic at the broker.
    """
    unrepeated = 0
    counted = comparison.counted.exchanges
    most = counted.total() + exchanges
    for conversation in conversations:
        comparison.forget_kinds()
        found = comparison.compare(conversation)
        unrepeated += found is not None and not found.repeats
        if found is not None and (found.repeats or unrepeated >= LEAST_UNREPEATED):
            return found
        if counted.total() >= most:
            break
    return None


def text_of(found: FoundDifference, specs: Sequence[str]) -> str:
    """Return a difference with the conversation that shows it."""
    one = found.difference
    values = ", ".join(
        f"{spec} {json.dumps(value)}" for spec, value in zip(specs, one.values, strict=True)
    )
    steps = [f"  {place}  {step}" for place, step in enumerate(found.conversation.steps)]
    return "\n".join([f"{one.api} v{one.version}, step {one.step}: {one.path}: {values}", *steps])

"""The differences in conversations about one API: in its responses, and in those of companions.

After a different response both brokers may be in different states, so the rest of a conversation is
not compared. The next conversations are: a fault of one API hides no fault of another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from harness.client.errors import ConnectionClosed
from harness.differential.comparison import ConversationComparison, FoundDifference
from harness.differential.conversation import Conversation

LEAST_UNREPEATED = 3
MOST_CONVERSATIONS = 40
"""About one API: where most of them end early, all together would take minutes."""


@dataclass(frozen=True, slots=True)
class ApiDifferences:
    """The result of conversations about an API.

    Attributes:
        own: the first difference in its responses; None without one.
        of_companions: the differences in responses of other APIs before it, one of each kind.
        compared: the versions of the API with responses that were compared.
    """

    own: FoundDifference | None
    of_companions: tuple[FoundDifference, ...]
    compared: frozenset[int]


def api_differences(
    comparison: ConversationComparison,
    api: str,
    conversations: Iterator[Conversation],
    exchanges: int,
) -> ApiDifferences:
    """Compare conversations until a response of the API differs.

    ``exchanges``: so many are compared, and the rest of the conversation that is begun. A
    difference that does not occur again counts from the :data:`LEAST_UNREPEATED`-th on: one may
    come from other traffic at the broker. Conversations end if one ends the broker.

    Raises ConnectionClosed if the broker cannot be reached, and no difference was found before.
    """
    own: FoundDifference | None = None
    others: list[FoundDifference] = []
    unrepeated = 0
    counted = comparison.counted.exchanges
    before = Counter(counted)
    comparison.forget_kinds()
    for _, conversation in zip(range(MOST_CONVERSATIONS), conversations, strict=False):
        try:
            found = comparison.compare(conversation)
        except ConnectionClosed:
            if not others:
                raise
            break
        if found is not None and not found.repeats:
            unrepeated += 1
            comparison.forget_kind(found.difference.kind)
        if found is not None and (found.repeats or unrepeated >= LEAST_UNREPEATED):
            if found.difference.api == api:
                own = found
                break
            others.append(found)
        if counted.total() - before.total() >= exchanges:
            break
    new = (counted - before).keys()
    compared = frozenset(version for name, version in new if name == api)
    return ApiDifferences(own, tuple(others), compared)

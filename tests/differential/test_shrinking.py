"""The least conversation that still shows a difference."""

from __future__ import annotations

from collections.abc import Sequence

from harness.differential.conversation import ConversationStep
from harness.differential.shrinking import shrink


def step(partition: int, offset: int = 5) -> ConversationStep:
    parts = [{"partition_index": 9, "offset": 1}, {"partition_index": partition, "offset": offset}]
    return ConversationStep(
        "DeleteRecords", 1, {"timeout_ms": 7, "topics": [{"name": "a", "partitions": parts}]}
    )


STEPS = [step(partition) for partition in (0, 1, 2, 3, 4, 5, 6)]


def names(steps: Sequence[ConversationStep], partition: int) -> bool:
    return any(f'"partition_index": {partition}' in str(one) for one in steps)


def test_shrink_keeps_only_steps_and_fields_that_matter() -> None:
    least = shrink(STEPS, lambda steps: names(steps, 2) and names(steps, 5))
    assert [str(one) for one in least] == [
        'DeleteRecords v1 {"topics": [{"partitions": [{"partition_index": 2}]}]}',
        'DeleteRecords v1 {"topics": [{"partitions": [{"partition_index": 5}]}]}',
    ]


def test_shrink_plays_at_most_allowed_number() -> None:
    played: list[Sequence[ConversationStep]] = []

    def differs(steps: Sequence[ConversationStep]) -> bool:
        played.append(steps)
        return names(steps, 6)

    least = shrink(STEPS, differs, plays=3)
    assert len(played) == 3
    assert names(least, 6)


def test_shrink_returns_steps_unchanged_without_difference() -> None:
    assert shrink(STEPS, lambda _: False) == STEPS

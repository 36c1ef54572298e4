"""A broker with other clients gets no request that changes an object of all clients."""

from __future__ import annotations

from typing import Any

import pytest

from harness.codec.apis import APIS
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.generator import conversations, shared_versions
from harness.oracle.own_objects import SHARED, without_shared
from harness.oracle.subjects import SUBJECTS, companions_of
from harness.reference_broker.handlers.table import HANDLERS

ENTITY = {"entity_type": "user", "entity_name": "$name-u"}
DRAWN = 30


def step(api: str, **fields: Any) -> ConversationStep:
    return ConversationStep(api, 0, fields)


@pytest.mark.parametrize(
    ("shared", "own"),
    [
        (step("OffsetCommit", group_id=""), step("OffsetCommit", group_id="$name-g")),
        (
            step("DeleteGroups", groups_names=["$name-g", ""]),
            step("DeleteGroups", groups_names=["$name-g"]),
        ),
        (
            step("ElectLeaders", topic_partitions=None),
            step("ElectLeaders", topic_partitions=[]),
        ),
        (
            step("AlterClientQuotas", entries=[{"entity": [{**ENTITY, "entity_name": None}]}]),
            step("AlterClientQuotas", entries=[{"entity": [ENTITY]}]),
        ),
    ],
    ids=lambda one: one.api,
)
def test_request_about_shared_object_is_left_out(
    shared: ConversationStep, own: ConversationStep
) -> None:
    (left,) = without_shared(iter([Conversation("a test", (own, shared, own))]))
    assert left.steps == (own, own)


def test_conversation_without_own_objects_is_left_out() -> None:
    only = step("OffsetCommit", group_id="")
    assert list(without_shared(iter([Conversation("a test", (only,))]))) == []


@pytest.mark.rotates(8)
def test_every_table_entry_leaves_out_a_drawn_request() -> None:
    """An entry that no drawn request meets would have the wrong name of a field."""
    served = {key: APIS[key].valid_versions for key in HANDLERS}
    shared = shared_versions(served, served)
    for api in SHARED:
        only = [api, *companions_of(api)]
        made = conversations(1, shared, only, about=api)
        drawn = [step for _ in range(DRAWN) for step in next(made).steps if step.api == api]
        assert any(SHARED[api](one.fields) for one in drawn), api
        assert not all(SHARED[api](one.fields) for one in drawn), api
    assert set(SHARED) <= set(SUBJECTS)

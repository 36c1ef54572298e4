"""Conversations out of a seed."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from harness.codec.apis import APIS, api_named
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.header import encode_request
from harness.conformance.harmless_requests import Safety
from harness.differential.conversation import (
    ConversationError,
    ConversationStep,
    from_json,
    to_json,
)
from harness.differential.generator import conversations, shared_versions, skeleton_fields
from harness.differential.openings import OPENINGS, known_fields
from harness.differential.symbols import Bindings
from harness.differential.transactional_openings import TRANSACTIONAL_OPENINGS
from harness.sweep.requests import safety_of

EVERYTHING = {key: api.valid_versions for key, api in APIS.items()}
SHARED = shared_versions(EVERYTHING, EVERYTHING)


def test_same_seed_generates_same_conversations() -> None:
    one, again = (list(islice(conversations(7, SHARED), 20)) for _ in range(2))
    assert one == again
    assert one != list(islice(conversations(8, SHARED), 20))


def test_generator_covers_every_api_and_version() -> None:
    wanted = {(name, version) for name, versions in SHARED.items() for version in versions}
    asked = {
        (step.api, step.version)
        for conversation in islice(conversations(1, SHARED), 2 * len(wanted) // 8)
        for step in conversation.steps
    }
    assert wanted <= asked


def test_shared_versions_exclude_unsafe_apis() -> None:
    assert {safety_of(name) for name in SHARED} == {Safety.READ, Safety.OWN_NAMES}


@pytest.mark.rotates(8)
def test_every_generated_request_encodes_and_round_trips_through_json() -> None:
    bound = Bindings("kc-x", 1_700_000_000_000)
    for conversation in islice(conversations(3, SHARED), 150):
        assert from_json(to_json(conversation)).steps == conversation.steps
        for step in conversation.steps:
            fields = bound.filled(step.fields)
            request: Any = from_dict(api_named(step.api).request, step.version, fields)
            encode_request(request, step.version, 1)


def test_deleted_topics_have_names_of_own_prefix() -> None:
    """Conversations neither delete nor write topics of other users."""
    bound = Bindings("kc-x", 0)
    for conversation in islice(conversations(4, SHARED), 100):
        for step in conversation.steps:
            if step.api == "DeleteTopics":
                fields = bound.filled(step.fields)
                names = fields.get("topic_names") or [t["name"] for t in fields.get("topics", [])]
                assert all(not name or name == "." or name.startswith("kc-x") for name in names)


def test_generator_sends_only_selected_apis_after_opening() -> None:
    opening = {api for one in OPENINGS for api, _ in one.requests}
    for conversation in islice(conversations(1, SHARED, ["Fetch"]), 10):
        apis = [step.api for step in conversation.steps]
        last = max((n for n, api in enumerate(apis) if api != "Fetch"), default=-1)
        assert set(apis) <= {"Fetch", *opening}
        assert last < max(len(one.requests) for one in OPENINGS)


_OPENED = (
    *("JoinGroup", "SyncGroup", "OffsetCommit", "Produce", "Fetch", "InitProducerId"),
    *("AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"),
)


@pytest.mark.parametrize("api", _OPENED)
def test_openings_encode_at_every_version(api: str) -> None:
    openings = (*OPENINGS, *TRANSACTIONAL_OPENINGS)
    for one, fields in (pair for opening in openings for pair in opening.requests):
        for version in SHARED[api] if one == api else ():
            known = known_fields(api, version, fields)
            values = Bindings("kc-x", 1_700_000_000_000).filled(known)
            request: Any = from_dict(api_named(api).request, version, values)
            encode_request(request, version, 1)


def transactional_ids(steps: tuple[ConversationStep, ...]) -> set[str]:
    named = [step.fields for step in steps if step.api == "InitProducerId"]
    return {str(fields.get("transactional_id")) for fields in named} & {"$name-x", "$name-y"}


def test_conversations_about_transactions_have_producers_of_transactional_ids() -> None:
    """Nearly all of those, some of all, and none of conversations without an end of transactions.

    Each transaction's producer goes with its newest epoch in most requests, not in all.
    """

    def share(only: list[str]) -> float:
        drawn = islice(conversations(2, SHARED, only), 100)
        return sum(bool(transactional_ids(one.steps)) for one in drawn) / 100

    assert share(["EndTxn", "InitProducerId"]) > 0.7
    assert 0.02 < share([]) < 0.5
    assert share(["InitProducerId", "Produce"]) == 0
    ends = [
        step.fields
        for one in islice(conversations(2, SHARED, ["EndTxn", "InitProducerId"]), 100)
        for step in one.steps
        if step.api == "EndTxn"
    ]
    current = [one for one in ends if one["producer_epoch"] == "$producer_epoch:0"]
    assert len(ends) / 2 < len(current) < len(ends)


def test_skeleton_fields_round_trip_through_request() -> None:
    fields = skeleton_fields("ListOffsets", 1)
    request: Any = from_dict(api_named("ListOffsets").request, 1, fields)
    assert to_dict(request, 1) == fields
    assert fields["topics"][0]["name"] == "$name-s"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", '"format": 1'),
        ('{"format": 1, "steps": []}', "at least one step"),
        ('{"format": 1, "steps": [{"api": "Fetsch", "version": 4, "fields": {}}]}', "no API"),
        ('{"format": 1, "steps": [{"api": "Fetch", "version": 99, "fields": {}}]}', "no version"),
    ],
)
def test_malformed_conversation_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConversationError, match=said):
        from_json(text)

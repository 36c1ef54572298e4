"""Recorded conversations: their file, and the comparison of a broker with the responses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.codec.apis import api_named
from harness.codec.versions import VersionRange
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.player import HOW, How
from harness.oracle import recorded
from harness.oracle.difference_text import text_of
from harness.oracle.likeness import RELEASES
from harness.oracle.recorded import (
    RecordedBroker,
    RecordedConversation,
    recorded_of,
    recorded_releases,
    write_recorded,
)
from harness.oracle.replayed import ReplayedConversations
from harness.oracle.specification import Specification
from harness.oracle.subjects import SUBJECTS
from harness.proxies import FrameRule, RunningRelay
from harness.targets.asking import ask_api_versions
from tests.oracle.test_seeded import OffsetIsOneMore

SETTINGS = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
TIMEOUT_MS = 5_000
STEPS = (
    ConversationStep("ApiVersions", 3, {"client_software_name": "$name"}),
    ConversationStep("Metadata", 9, {"topics": None}),
)
RESPONSES = ({HOW: How.ANSWERED, "error_code": 0}, {HOW: How.CLOSED})
ONE = RecordedConversation("Metadata", Conversation("Metadata: a test", STEPS), RESPONSES)


TRANSACTIONS = frozenset(
    {
        *("AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "WriteTxnMarkers"),
        *("DescribeTransactions", "ListTransactions"),
    }
)
WHOLE = [
    one for one in recorded_releases() if one != RELEASES[-1] and "Produce" in recorded_of(one)
]
"""The older releases of which more than the transactions is recorded."""


def test_written_conversations_are_read_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "DATA", tmp_path)
    first = write_recorded("0.0.1", [ONE]).read_bytes()
    assert recorded_of("0.0.1") == {"Metadata": (ONE,)}
    assert recorded_releases() == ["0.0.1"]
    assert write_recorded("0.0.1", [ONE]).read_bytes() == first


def test_conversation_ends_before_version_that_is_not_served() -> None:
    served = {18: VersionRange(0, 4), 3: VersionRange(0, 8)}
    part = ONE.served_part(served)
    assert part is not None
    assert (part.conversation.steps, part.responses) == (STEPS[:1], RESPONSES[:1])
    assert ONE.served_part({3: VersionRange(0, 13)}) is None


def test_recorded_broker_plays_first_steps() -> None:
    broker = RecordedBroker("kafka:0.0.1")
    conversation = broker.learn(ONE)
    (answer,) = broker.play(conversation.with_steps(STEPS[:1]), "kc-", 0)
    assert answer.compared == RESPONSES[0]


@pytest.mark.parametrize("release", recorded_releases())
def test_recording_asks_each_api_at_versions_that_there_are(release: str) -> None:
    found = recorded_of(release)
    assert set(found) <= set(SUBJECTS)
    for about, conversations in found.items():
        steps = [step for one in conversations for step in one.conversation.steps]
        asked = {step.version for step in steps if step.api == about}
        assert asked
        assert asked <= set(api_named(about).valid_versions), about


def test_newest_release_of_specification_is_recorded() -> None:
    assert RELEASES[-1] in recorded_releases()
    assert set(recorded_of(RELEASES[-1])) == set(SUBJECTS)


@contextmanager
def replayed_with(rule: FrameRule) -> Iterator[ReplayedConversations]:
    """The built-in broker behind a relay with this rule."""
    with (
        Specification("", SETTINGS) as broker,
        RunningRelay(broker.address, rule) as relay,
    ):
        address = Address(*relay.address)
        pairs = ask_api_versions(address, TIMEOUT_MS)
        served = {key: VersionRange(*pair) for key, pair in pairs.items()}
        with ReplayedConversations(
            RELEASES[-1], "external:a-broker", address, served, "kc-", TIMEOUT_MS
        ) as conversations:
            yield conversations


@pytest.mark.parametrize("api", ["ListOffsets", "Metadata", "InitProducerId"])
def test_built_in_broker_responds_as_recorded(api: str) -> None:
    """InitProducerId has a Fetch that Kafka answers with a fault of its own."""
    with replayed_with(FrameRule()) as conversations:
        found = conversations.differences(api, 200)
    assert (found.own, found.of_companions) == (None, ())


@contextmanager
def replayed_like(release: str) -> Iterator[ReplayedConversations]:
    """The built-in broker like a release, beside what is recorded of the release."""
    with Specification(release, SETTINGS) as broker:
        address = Address(*broker.address)
        pairs = ask_api_versions(address, TIMEOUT_MS)
        served = {key: VersionRange(*pair) for key, pair in pairs.items()}
        target = f"reference,like={release}"
        with ReplayedConversations(
            release, target, address, served, "kc-", TIMEOUT_MS
        ) as conversations:
            yield conversations


@pytest.mark.parametrize("release", WHOLE)
def test_built_in_broker_like_release_responds_as_recorded(release: str) -> None:
    with replayed_like(release) as conversations:
        for api in ("Produce", "DescribeGroups", "CreateTopics"):
            found = conversations.differences(api, 100)
            assert (found.own, found.of_companions) == (None, ()), api


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("release", "api"),
    [
        (release, api)
        for release in recorded_releases()
        for api in sorted(TRANSACTIONS)
        if release != RELEASES[-1] and recorded_of(release).get(api)
    ],
)
def test_transactions_like_release_are_answered_as_recorded(release: str, api: str) -> None:
    with replayed_like(release) as conversations:
        found = conversations.differences(api, 200)
    assert (found.own, found.of_companions) == (None, ())
    assert found.compared == {
        step.version
        for one in recorded_of(release)[api]
        for step in one.conversation.steps
        if step.api == api
    }


def test_transactions_of_each_release_that_has_them_are_recorded() -> None:
    """DescribeTransactions and ListTransactions came with 3.0."""
    older = {"1.1.1": 5, "2.8.2": 5, "3.9.2": 7, "4.4.0": 7}
    found = {release: recorded_of(release).keys() & TRANSACTIONS for release in older}
    assert {release: len(names) for release, names in found.items()} == older


def test_wrong_field_is_found_and_repeats() -> None:
    with replayed_with(OffsetIsOneMore()) as conversations:
        found = conversations.differences("ListOffsets", 60).own
        assert found is not None
        text = text_of(found, conversations.specs)
    assert found.repeats
    assert found.difference.api == "ListOffsets"
    assert text.startswith(f"ListOffsets v{found.difference.version}, step ")
    assert "kafka:4.4.0 " in text

"""Seeded conversations with the specification and a broker behind a relay that changes frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from harness.base.address import Address
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import ListOffsetsResponse
from harness.codec.versions import VersionRange
from harness.oracle.difference_text import text_of
from harness.oracle.seeded import SeededConversations
from harness.oracle.specification import Specification
from harness.proxies import FrameRule, RunningRelay, SeenRequest
from harness.reference_broker.settings import SettingError
from harness.targets.asking import ask_api_versions

SETTINGS = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
TIMEOUT_MS = 5_000
EXCHANGES = 60


class OffsetIsOneMore(FrameRule):
    """ListOffsets responses have an offset that is too large by 1."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "ListOffsets" or seen.version == 0:
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, ListOffsetsResponse)
        for topic in message.topics:
            for partition in topic.partitions:
                partition.offset += 1
        return [encode_response(message, seen.version, correlation_id)]


@contextmanager
def conversations_with(rule: FrameRule) -> Iterator[SeededConversations]:
    """The built-in broker behind a relay with this rule, beside the specification."""
    with (
        Specification("", SETTINGS) as broker,
        RunningRelay(broker.address, rule) as relay,
    ):
        address = Address(*relay.address)
        pairs = ask_api_versions(address, TIMEOUT_MS)
        advertised = {key: VersionRange(*pair) for key, pair in pairs.items()}
        right = Specification("", SETTINGS)
        seeded = SeededConversations("wrong", address, advertised, right, "kc-", TIMEOUT_MS)
        with seeded:
            yield seeded


def test_right_broker_has_no_difference() -> None:
    with conversations_with(FrameRule()) as seeded:
        found = seeded.differences("ListOffsets", 1, EXCHANGES)
    assert (found.own, found.of_companions) == (None, ())
    assert found.compared == set(seeded.shared["ListOffsets"])


def test_wrong_field_is_shrunk_to_one_request_of_its_api() -> None:
    with conversations_with(OffsetIsOneMore()) as seeded:
        found = seeded.differences("ListOffsets", 1, EXCHANGES).own
        assert found is not None
        text = text_of(found, seeded.specs)
    assert found.repeats
    assert [step.api for step in found.conversation.steps] == ["ListOffsets"]
    assert text.startswith(f"ListOffsets v{found.difference.version}, step 0: topics[0]")
    assert "reference -1, wrong 0" in text


@pytest.mark.rotates(8)
def test_wrong_response_of_companion_hides_no_response_of_api() -> None:
    with conversations_with(OffsetIsOneMore()) as seeded:
        found = seeded.differences("DeleteRecords", 1, 4 * EXCHANGES)
    assert found.own is None
    assert {one.difference.api for one in found.of_companions} == {"ListOffsets"}
    kinds = [one.difference.kind for one in found.of_companions]
    assert len(kinds) == len(set(kinds))
    assert found.compared == set(seeded.shared["DeleteRecords"])


@pytest.mark.rotates(8)
def test_same_seed_makes_same_conversation() -> None:
    with conversations_with(OffsetIsOneMore()) as seeded:
        first, second = [seeded.differences("ListOffsets", 7, EXCHANGES).own for _ in range(2)]
    assert first is not None
    assert second is not None
    assert first.conversation == second.conversation


def test_unknown_setting_is_refused() -> None:
    with pytest.raises(SettingError, match="unknown broker setting"):
        Specification("", {"no.such.setting": "1"})

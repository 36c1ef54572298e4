"""The requests of a sweep to each broker, and the names of their outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from harness.client.connection import Address
from harness.codec.apis import APIS, api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataResponse
from harness.codec.versions import VersionRange
from harness.conformance.harmless_requests import Safety
from harness.proxies import FrameRule, RunningRelay, SeenRequest
from harness.sweep.asking import SweepOutcome, ask, error_names
from harness.sweep.requests import harmless_request, safety_of
from harness.sweep.walk import new_names, steps, sweep
from tests.reference_broker.running import running_broker
from tests.sweep.brokers import LONG_MS, AdvertisesMore, advertised

SHORT_MS = 300
DESTRUCTIVE = [api.key for api in APIS.values() if safety_of(api.name) is Safety.DESTRUCTIVE]


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    with running_broker() as where:
        yield where


def test_steps_are_all_released_versions() -> None:
    found = {(step.api.name, step.version) for step in steps()}
    assert (
        len(found)
        == len(steps())
        == sum(
            len(list(api.valid_versions)) - len(list(api.unstable_versions))
            for api in APIS.values()
        )
    )
    assert ("InitProducerId", 5) in found
    assert ("InitProducerId", 6) not in found  # never released


def test_steps_are_limited_to_advertised_and_known_versions() -> None:
    known = {3: VersionRange(12, 99), 18: VersionRange(0, 1), 999: VersionRange(0, 0)}
    found = [(step.api.name, step.version) for step in steps(known)]
    assert found == [("Metadata", 12), ("Metadata", 13), ("ApiVersions", 0), ("ApiVersions", 1)]
    assert [step.version for step in steps(known, ["ApiVersions"])] == [0, 1]


def test_destructive_requests_are_not_sent_to_shared_broker(address: Address) -> None:
    """All that the codec knows is advertised, as by a broker with everything."""
    rule = AdvertisesMore(*DESTRUCTIVE)
    with RunningRelay(address, rule) as relay:
        wanted = steps(advertised(relay.address))
        answers = list(sweep(wanted, relay.address, None, LONG_MS, {}))
    assert len(answers) == len(wanted)
    kept = {a.api_name for a in answers if a.outcome is SweepOutcome.NOT_SENT}
    assert {api_named(name).key for name in kept} == set(DESTRUCTIVE)
    assert set(rule.asked) & set(DESTRUCTIVE) == set()
    assert set(rule.asked) == {step.api.key for step in wanted} - set(DESTRUCTIVE)


def test_destructive_requests_are_sent_only_to_disposable_broker(address: Address) -> None:
    shared, own = AdvertisesMore(*DESTRUCTIVE), AdvertisesMore()
    with RunningRelay(address, shared) as theirs, RunningRelay(address, own) as ours:
        wanted = steps(advertised(theirs.address))
        before = len(shared.asked)
        answers = list(sweep(wanted, theirs.address, lambda: ours.address, LONG_MS, {}))
    assert [answer.outcome for answer in answers if answer.outcome is SweepOutcome.NOT_SENT] == []
    assert set(own.asked) == set(DESTRUCTIVE)
    assert set(shared.asked[before:]) & set(DESTRUCTIVE) == set()


class Spoilt(FrameRule):
    """The answer is what is given, whatever it was."""

    def __init__(self, *payloads: bytes, more: bytes = b"") -> None:
        self.payloads, self.more = payloads, more

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [payload + self.more] if self.more else self.payloads


class Refused(FrameRule):
    """The broker gets half a header."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return seen.payload[:3]


@pytest.mark.parametrize(
    ("rule", "outcome", "note"),
    [
        (FrameRule(), SweepOutcome.DECODED, ""),
        (Spoilt(more=b"\0"), SweepOutcome.UNDECODABLE, "1 bytes left over"),
        (Spoilt(b"\0\0\0\1"), SweepOutcome.UNDECODABLE, "Metadata v13 answer: "),
        (Spoilt(), SweepOutcome.SILENT, "no answer before the deadline"),
        (Refused(), SweepOutcome.CLOSED, "closed the connection"),
    ],
    ids=["whole", "a byte more", "cut", "silent", "closed"],
)
def test_sweep_outcome_matches_kind_of_response(
    address: Address, rule: FrameRule, outcome: SweepOutcome, note: str
) -> None:
    with RunningRelay(address, rule) as relay:
        timeout_ms = SHORT_MS if outcome is SweepOutcome.SILENT else LONG_MS
        request = harmless_request("Metadata", 13, new_names())
        answer = ask(relay.address, request, 13, timeout_ms)
    assert (answer.api_name, answer.version, answer.outcome) == ("Metadata", 13, outcome)
    assert note in answer.note
    assert answer.good is (outcome is SweepOutcome.DECODED)
    if answer.good:
        assert answer.errors == ("UNKNOWN_TOPIC_OR_PARTITION (3)",)


class Swallowed(FrameRule):
    """The broker never gets the request."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return None


OLD_SETS_ARE_GONE = {0: VersionRange(0, 13), 1: VersionRange(4, 18)}
OLD_SETS_ARE_SERVED = {0: VersionRange(0, 13), 1: VersionRange(0, 18)}


@pytest.mark.parametrize(
    ("version", "rule", "advertised", "outcome"),
    [
        (2, Refused(), OLD_SETS_ARE_GONE, SweepOutcome.UNSERVED),
        (2, Swallowed(), OLD_SETS_ARE_GONE, SweepOutcome.SILENT),
        (3, Refused(), OLD_SETS_ARE_GONE, SweepOutcome.CLOSED),
        (2, Refused(), OLD_SETS_ARE_SERVED, SweepOutcome.CLOSED),
    ],
    ids=["documented", "in another way", "at another version", "by one that serves sets"],
)
def test_only_documented_placeholder_version_counts_as_unserved(
    address: Address,
    version: int,
    rule: FrameRule,
    advertised: dict[int, VersionRange],
    outcome: SweepOutcome,
) -> None:
    """Produce 2 may be advertised and closed where Fetch has no such sets either."""
    (step,) = [s for s in steps(advertised, ["Produce"]) if s.version == version]
    with RunningRelay(address, rule) as relay:
        timeout_ms = SHORT_MS if outcome is SweepOutcome.SILENT else LONG_MS
        (answer,) = sweep([step], relay.address, None, timeout_ms, advertised)
    assert answer.outcome is outcome
    assert answer.good is ("KAFKA-18659" in answer.note) is (outcome is SweepOutcome.UNSERVED)


def test_error_codes_are_found_at_any_depth() -> None:
    topic = MetadataResponse.MetadataResponseTopic
    partition = MetadataResponse.MetadataResponsePartition
    answer = MetadataResponse(
        error_code=ErrorCode.NONE,
        topics=[
            topic(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            topic(partitions=[partition(error_code=ErrorCode.LEADER_NOT_AVAILABLE)]),
        ],
    )
    assert sorted(error_names(answer)) == [
        "LEADER_NOT_AVAILABLE (5)",
        "UNKNOWN_TOPIC_OR_PARTITION (3)",
    ]

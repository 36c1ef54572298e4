"""Versions of a broker without ApiVersions are probed, and only its bytes are a proof."""

import pytest

from harness.base.address import Address
from harness.codec.header import encode_response
from harness.codec.messages import (
    FetchResponse,
    MetadataResponse,
    OffsetCommitResponse,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.targets import info as info_module
from harness.targets.asking import advertises, ask_oldest_cluster
from harness.targets.external import ExternalBroker
from harness.targets.info import OBSERVED, TargetInfo, probe
from harness.targets.not_answered import NotAnswered
from harness.targets.observed_versions import (
    CORRELATION_ID,
    NO_TOPIC,
    VersionProbe,
    answers,
    observe_versions,
    questions,
)
from tests.targets.old_broker import CLOSE, SILENCE, OldBroker, listening

STEP_MS, TIMEOUT_MS = 50, 200


def observed(broker: OldBroker) -> dict[int, tuple[int, int]]:
    with listening(broker) as address:
        return observe_versions(address, STEP_MS, TIMEOUT_MS)


@pytest.mark.rotates(8)
@pytest.mark.parametrize("habit", [CLOSE, SILENCE])
def test_served_versions_are_observed(habit: str) -> None:
    served = {0: 1, 1: 1, 3: 0, 10: 0}
    assert observed(OldBroker(served, habit)) == {0: (0, 1), 1: (0, 1), 3: (0, 0), 10: (0, 0)}


def test_responses_in_older_layout_are_not_counted() -> None:
    """As with Kafka 0.8, which answers version 1 as it answers version 0."""
    served = {0: 0, 1: 0, 3: 0, 10: 0}
    assert observed(OldBroker(served, careless=True)) == dict.fromkeys(served, (0, 0))


def test_fetch_2_is_inferred_from_produce_2() -> None:
    """Fetch 2 has the layouts of Fetch 1: it counts together with Produce 2."""
    assert observed(OldBroker({0: 1, 1: 2}))[1] == (0, 1)
    assert observed(OldBroker({0: 2, 1: 2}))[1] == (0, 2)


def test_inter_broker_apis_are_never_requested() -> None:
    broker = OldBroker({})
    assert observed(broker) == {}
    asked = {key for key, _ in broker.asked}
    assert asked == {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16}


@pytest.mark.rotates(8)
def test_silent_broker_is_probed_twice_per_question_at_most() -> None:
    broker = OldBroker({3: 0}, SILENCE)
    assert observed(broker) == {3: (0, 0)}
    assert len(broker.asked) == 2 * len(questions()) - 1, "Metadata 0 alone is not asked again"


def question(api: str, version: int) -> VersionProbe:
    return next(q for q in questions() if (q.api, q.version) == (api, version))


def of(message: Message, version: int) -> bytes:
    return encode_response(message, version, CORRELATION_ID)


def commit_answer(topic: str, index: int) -> OffsetCommitResponse:
    partition = OffsetCommitResponse.OffsetCommitResponsePartition(partition_index=index)
    entry = OffsetCommitResponse.OffsetCommitResponseTopic(name=topic, partitions=[partition])
    return OffsetCommitResponse(topics=[entry])


def test_response_must_contain_requested_topic_and_partition() -> None:
    asked = question("OffsetCommit", 1)
    assert answers(asked, of(commit_answer(NO_TOPIC, 0), 1))
    assert not answers(asked, of(commit_answer(NO_TOPIC, 7), 1))
    assert not answers(asked, of(commit_answer("another", 0), 1))
    assert not answers(asked, of(OffsetCommitResponse(), 1))


def test_response_with_other_id_or_length_is_rejected() -> None:
    asked, right = question("Metadata", 0), of(MetadataResponse(), 0)
    assert answers(asked, right)
    assert not answers(asked, None)
    assert not answers(asked, encode_response(MetadataResponse(), 0, CORRELATION_ID + 1))
    assert not answers(asked, right + b"\0")
    assert not answers(asked, right[:-1])


@pytest.mark.parametrize(
    ("api", "version", "answer"),
    [
        ("Produce", 1, ProduceResponse()),
        ("Fetch", 1, FetchResponse()),
        ("Metadata", 1, MetadataResponse()),
    ],
)
def test_response_without_content_is_rejected(api: str, version: int, answer: Message) -> None:
    """The answer must contain the requested topic: empty lists are equal in many versions."""
    if api == "Metadata":
        assert not answers(question(api, version), of(answer, 0))
    else:
        assert not answers(question(api, version), of(answer, version))


@pytest.mark.rotates(8)
@pytest.mark.parametrize("habit", [CLOSE, SILENCE])
def test_probe_without_api_versions_observes_versions(
    habit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(info_module, "OBSERVE_STEP_MS", STEP_MS)
    monkeypatch.setattr(info_module, "OBSERVE_TIMEOUT_MS", TIMEOUT_MS)
    broker = OldBroker({0: 1, 3: 0}, habit)
    with listening(broker) as address, ExternalBroker([address]) as target:
        assert target.is_alive()
        info = probe(target)
    assert info.versions_source == OBSERVED
    assert info.api_versions == {0: (0, 1), 3: (0, 0)}
    assert TargetInfo.from_json(info.to_json()) == info
    assert not target.is_alive()


def test_broker_without_api_versions_is_recognized_by_metadata() -> None:
    with listening(OldBroker({3: 0})) as address:
        assert not advertises(address, 2000)
        assert ask_oldest_cluster(address, 2000).brokers == (Address("127.0.0.1", 1),)
    with listening(OldBroker({0: 1})) as address, pytest.raises(NotAnswered, match="as Kafka does"):
        advertises(address, 2000)

"""Our definitions against the ones inside a released Kafka."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from harness.codec.definition import MessageSpec, parse_definition
from harness.codec.messages import message_class, message_names
from harness.targets.artifacts import fetch_release
from tests.codec.drift import differences

# Together these two releases know every version that was ever released.
RELEASES = ("3.9.2", "4.4.0")
NOW_IGNORABLE = "the name may be left out since a later version carries a topic id"
EARLY_ACCESS = "version 0 was early access, stable only from 4.1"
KNOWN_DRIFT: dict[tuple[str, str], str] = {
    ("4.4.0", "RequestHeader"): "header v0, which has no client id, is gone in 4.0",
    ("3.9.2", "OffsetCommitRequest"): NOW_IGNORABLE,
    ("3.9.2", "OffsetCommitResponse"): NOW_IGNORABLE,
    ("3.9.2", "OffsetFetchRequest"): NOW_IGNORABLE,
    ("3.9.2", "OffsetFetchResponse"): NOW_IGNORABLE,
    ("3.9.2", "ProduceRequest"): NOW_IGNORABLE,
    ("3.9.2", "ProduceResponse"): NOW_IGNORABLE,
    ("3.9.2", "TxnOffsetCommitRequest"): f"{NOW_IGNORABLE}; generationId has a longer name",
    ("3.9.2", "TxnOffsetCommitResponse"): NOW_IGNORABLE,
    ("3.9.2", "UpdateFeaturesResponse"): "results are gone in v2, and may be left out",
    ("3.9.2", "VoteRequest"): "candidates are called replicas since pre-votes (KIP-996)",
    ("3.9.2", "ShareFetchRequest"): EARLY_ACCESS,
    ("3.9.2", "ShareFetchResponse"): EARLY_ACCESS,
    ("3.9.2", "ShareAcknowledgeResponse"): EARLY_ACCESS,
    ("3.9.2", "DeleteShareGroupStateRequest"): EARLY_ACCESS,
    ("3.9.2", "InitializeShareGroupStateRequest"): EARLY_ACCESS,
    ("3.9.2", "ReadShareGroupStateRequest"): EARLY_ACCESS,
    ("3.9.2", "ReadShareGroupStateSummaryResponse"): "v0 gained a leader epoch in 4.1",
}


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def kafkas_own(release: str) -> dict[str, MessageSpec]:
    """Every definition in the release's client jar, by message name."""
    (jar,) = [path for path in fetch_release(release) if path.name.startswith("kafka-clients-")]
    with zipfile.ZipFile(jar) as archive:
        names = [
            name
            for name in archive.namelist()
            if name.startswith("common/message/") and name.endswith(".json")
        ]
        specs = [parse_definition(archive.read(name).decode(), name) for name in names]
    return {spec.name: spec for spec in specs}


def _drift(ours: MessageSpec, theirs: MessageSpec) -> list[str]:
    """Differences in the versions that the release serves; it need not be the newest."""
    newer = ("highest version", "latestVersionUnstable")
    found = differences(ours, theirs)
    if ours.valid.highest == theirs.valid.highest:
        return found
    return [line for line in found if not any(word in line for word in newer)]


@pytest.mark.kafka
def test_our_definitions_are_kafkas(release: str, kafkas_own: dict[str, MessageSpec]) -> None:
    """Whatever differs is listed above with its reason, and what is listed does differ."""
    both = [name for name in message_names() if name in kafkas_own]
    found = {n: _drift(message_class(n).message_spec, kafkas_own[n]) for n in both}
    listed = {name for at, name in KNOWN_DRIFT if at == release}
    unlisted = {name: lines for name, lines in found.items() if lines and name not in listed}
    assert unlisted == {}
    assert {name for name, lines in found.items() if lines} == listed


@pytest.mark.kafka
def test_every_api_of_the_release_is_ours(release: str, kafkas_own: dict[str, MessageSpec]) -> None:
    renamed = {"ListClientMetricsResourcesRequest": "ListConfigResourcesRequest"}
    served = [spec for spec in kafkas_own.values() if spec.type == "request" and spec.valid]
    for theirs in served:
        ours = message_class(renamed.get(theirs.name, theirs.name)).message_spec
        assert ours.api_key == theirs.api_key
        assert set(theirs.valid) <= set(ours.valid), theirs.name


@pytest.mark.kafka
def test_every_definition_of_the_release_can_be_read(kafkas_own: dict[str, MessageSpec]) -> None:
    requests = [spec for spec in kafkas_own.values() if spec.type == "request"]
    assert len(requests) > 80
    assert all(spec.name.removesuffix("Request") + "Response" in kafkas_own for spec in requests)


def loaded_text(name: str) -> dict[str, Any]:
    text = (files("harness.codec") / "schemas" / f"{name}.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(re.sub(r"(?m)^//.*$", "", text))
    return found


def _field(raw: dict[str, Any], *path: str) -> dict[str, Any]:
    for name in path:
        raw = next(field for field in raw["fields"] if field["name"] == name)
    return raw


PARTITION = ("Responses", "Partitions")
Plant = Callable[[dict[str, Any]], object]
PLANTS: dict[str, tuple[Plant, str]] = {
    "name": (
        lambda raw: _field(raw, "Responses").update(name="Answers"),
        r"v0: FetchResponse: fields .*answers",
    ),
    "kind": (
        lambda raw: _field(raw, *PARTITION, "HighWatermark").update(type="int32"),
        r"v0: PartitionData.high_watermark: kind is .'int64'.*, not .'int32'",
    ),
    "order": (
        lambda raw: _field(raw, *PARTITION)["fields"].reverse(),
        r"v0: PartitionData: fields",
    ),
    "nullable": (
        lambda raw: _field(raw, *PARTITION, "Records").update(nullableVersions="5+"),
        r"v4: PartitionData.records: nullable is True, not False",
    ),
    "versions": (
        lambda raw: _field(raw, *PARTITION, "LogStartOffset").update(versions="6+"),
        r"v5: PartitionData: fields",
    ),
    "tag": (
        lambda raw: (
            _field(raw, *PARTITION, "DivergingEpoch").update(tag=1),
            _field(raw, *PARTITION, "CurrentLeader").update(tag=0),
        ),
        r"v12: PartitionData: fields",
    ),
    "tagged versions": (
        lambda raw: _field(raw, "NodeEndpoints").update(taggedVersions="17+", versions="17+"),
        r"v16: FetchResponse: fields",
    ),
    "default": (
        lambda raw: _field(raw, *PARTITION, "PreferredReadReplica").update(default="-2"),
        r"v11: PartitionData.preferred_read_replica: default is -1, not -2",
    ),
    "ignorable": (
        lambda raw: _field(raw, "ThrottleTimeMs").update(ignorable=False),
        r"v1: FetchResponse.throttle_time_ms: ignorable is True, not False",
    ),
    "ignorable where absent": (
        lambda raw: _field(raw, "SessionId").update(ignorable=True),
        r"v0: FetchResponse.session_id: absent, and ignorable or default differ",
    ),
    "flexible": (
        lambda raw: raw.update(flexibleVersions="13+"),
        r"v12: FetchResponse: flexible is True, not False",
    ),
    "flexible field": (
        lambda raw: _field(raw, "Responses", "Topic").update(flexibleVersions="none"),
        r"v12: FetchableTopicResponse.topic: compact is True, not False",
    ),
    "new version": (
        lambda raw: raw.update(validVersions="0-19"),
        r"highest version is 18, not 19|version 19 is missing",
    ),
    "stable": (lambda raw: raw.update(latestVersionUnstable=True), "latestVersionUnstable"),
    "api key": (lambda raw: raw.update(apiKey=2), "api key is 1, not 2"),
}


@pytest.mark.parametrize("what", PLANTS)
def test_a_planted_difference_is_seen(what: str) -> None:
    plant, seen = PLANTS[what]
    raw = loaded_text("FetchResponse")
    ours = message_class("FetchResponse").message_spec
    assert differences(ours, parse_definition(json.dumps(raw), "same")) == []
    plant(raw)
    found = differences(ours, parse_definition(json.dumps(raw), "planted"))
    assert any(re.search(seen, line) for line in found), found


def test_older_versions_of_ours_are_no_difference() -> None:
    raw = loaded_text("FetchResponse")
    raw["validVersions"] = "4-18"
    ours = message_class("FetchResponse").message_spec
    assert differences(ours, parse_definition(json.dumps(raw), "newer only")) == []

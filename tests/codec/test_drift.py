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

RELEASE = "4.4.0"


@pytest.fixture(scope="module")
def kafkas_own() -> dict[str, MessageSpec]:
    """Every definition in the release's client jar, by message name."""
    (jar,) = [path for path in fetch_release(RELEASE) if path.name.startswith("kafka-clients-")]
    with zipfile.ZipFile(jar) as archive:
        names = [
            name
            for name in archive.namelist()
            if name.startswith("common/message/") and name.endswith(".json")
        ]
        specs = [parse_definition(archive.read(name).decode(), name) for name in names]
    return {spec.name: spec for spec in specs}


@pytest.mark.kafka
@pytest.mark.parametrize("name", message_names())
def test_our_definition_is_kafkas(name: str, kafkas_own: dict[str, MessageSpec]) -> None:
    assert differences(message_class(name).message_spec, kafkas_own[name]) == []


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

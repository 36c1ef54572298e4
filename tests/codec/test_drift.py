"""Every kind of difference between two definitions is found and named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import pytest

from harness.codec.drift.check import check_drift
from harness.codec.drift.definition import Definition, our_definition, read_definition
from harness.codec.drift.kafka_jar import Definitions
from harness.codec.errors import DefinitionError
from harness.codec.messages import message_names

NEWEST = "4.4.0"
OTHER = "HeartbeatRequest"


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
        r"v0-18 responses: name: ours responses, theirs answers",
    ),
    "kind": (
        lambda raw: _field(raw, *PARTITION, "HighWatermark").update(type="int32"),
        r"v0-18 responses\.partitions\.high_watermark: type: ours int64, theirs int32",
    ),
    "order": (
        lambda raw: _field(raw, *PARTITION)["fields"].reverse(),
        r"v0-3 responses\.partitions: order: ours partition_index, .*, theirs records, ",
    ),
    "nullable": (
        lambda raw: _field(raw, *PARTITION, "Records").update(nullableVersions="5+"),
        r"v0-4 responses\.partitions\.records: nullable: ours True, theirs False",
    ),
    "versions": (
        lambda raw: _field(raw, *PARTITION, "LogStartOffset").update(versions="6+"),
        r"v5 responses\.partitions\.log_start_offset: field: ours there, theirs absent",
    ),
    "tag": (
        lambda raw: (
            _field(raw, *PARTITION, "DivergingEpoch").update(tag=1),
            _field(raw, *PARTITION, "CurrentLeader").update(tag=0),
        ),
        r"v12-18 responses\.partitions\.diverging_epoch: name: .*theirs current_leader",
    ),
    "tagged versions": (
        lambda raw: _field(raw, "NodeEndpoints").update(taggedVersions="17+", versions="17+"),
        r"v16 node_endpoints: field: ours tag 0, theirs absent",
    ),
    "default": (
        lambda raw: _field(raw, *PARTITION, "PreferredReadReplica").update(default="-2"),
        r"v0-18 .*\.preferred_read_replica: default: ours -1, theirs -2",
    ),
    "ignorable": (
        lambda raw: _field(raw, "ThrottleTimeMs").update(ignorable=False),
        r"v0-18 throttle_time_ms: ignorable: ours True, theirs False",
    ),
    "ignorable where absent": (
        lambda raw: _field(raw, "SessionId").update(ignorable=True),
        r"v0-18 session_id: ignorable: ours False, theirs True",
    ),
    "flexible": (
        lambda raw: raw.update(flexibleVersions="13+"),
        r"v12: flexible: ours True, theirs False",
    ),
    "flexible field": (
        lambda raw: _field(raw, "Responses", "Topic").update(flexibleVersions="none"),
        r"v12 responses\.topic: compact: ours True, theirs False",
    ),
    "struct": (
        lambda raw: _field(raw, *PARTITION).update(type="[]Partition"),
        r"v0-18 responses\.partitions: struct: ours PartitionData, theirs Partition",
    ),
    "map key": (
        lambda raw: _field(raw, "NodeEndpoints", "NodeId").update(mapKey=False),
        r"v16-18 node_endpoints\.node_id: map key: ours True, theirs False",
    ),
    "entity type": (
        lambda raw: _field(raw, "Responses", "Topic").pop("entityType"),
        r"v0-18 responses\.topic: entity type: ours topicName, theirs none",
    ),
    "zero copy": (
        lambda raw: _field(raw, *PARTITION, "Records").update(zeroCopy=True),
        r"v0-18 responses\.partitions\.records: zero copy: ours False, theirs True",
    ),
    "new field": (
        lambda raw: raw["fields"].append({"name": "New", "type": "int8", "versions": "18+"}),
        r"v18 new: field: ours absent, theirs there",
    ),
    "lost field": (
        lambda raw: raw["fields"].remove(_field(raw, "SessionId")),
        r"v7-18 session_id: field: ours there, theirs absent",
    ),
    "lost tag": (
        lambda raw: raw["fields"].remove(_field(raw, "NodeEndpoints")),
        r"v16-18 node_endpoints: field: ours tag 0, theirs absent",
    ),
    "new version": (
        lambda raw: raw.update(validVersions="0-19"),
        r"v19: version: ours absent, theirs there",
    ),
    "lost version": (
        lambda raw: raw.update(validVersions="1-18"),
        r"v0: version: ours there, theirs absent",
    ),
    "type of message": (
        lambda raw: raw.update(type="data"),
        r"v0-18: version: ours there, theirs absent",
    ),
    "name of message": (
        lambda raw: raw.update(name="FetchAnswer"),
        r"v0-18: message: ours FetchResponse, theirs FetchAnswer",
    ),
    "api key": (
        lambda raw: raw.update(apiKey=2),
        r"v0-18: version: ours there, theirs absent",
    ),
    "no definition": (lambda raw: raw.clear(), r"v0-18: version: ours there, theirs absent"),
}
OF_REQUESTS: dict[str, tuple[Plant, str]] = {
    "unstable": (
        lambda raw: raw.update(latestVersionUnstable=True),
        r"v18: unstable: ours False, theirs True",
    ),
    "listeners": (
        lambda raw: raw.update(listeners=["broker", "zkBroker"]),
        r"v0-18: listeners: ours broker controller, theirs broker",
    ),
}


@cache
def _ours() -> dict[str, Definition]:
    return {name: our_definition(name, NEWEST) for name in message_names()}


def _unlisted(definitions: dict[str, Definition], release: str = NEWEST) -> list[str]:
    return [str(one) for one in check_drift(Definitions(release, definitions), ()).review.unlisted]


def _planted(name: str, plant: Plant) -> list[str]:
    """Return the differences of this message when its definition is changed."""
    raw = loaded_text(name)
    plant(raw)
    theirs = {OTHER: _ours()[OTHER]}  # all other messages are absent, which takes no time
    if raw:
        theirs[raw["name"]] = read_definition(json.dumps(raw), "planted")
    return [line for line in _unlisted(theirs) if line.startswith(f"{name} ")]


def test_drift_of_own_definitions_is_empty() -> None:
    assert _unlisted(_ours()) == []


@pytest.mark.parametrize("what", PLANTS)
def test_drift_reports_planted_difference(what: str) -> None:
    plant, seen = PLANTS[what]
    found = _planted("FetchResponse", plant)
    assert any(re.fullmatch(f"FetchResponse {seen}.*", line) for line in found), found


@pytest.mark.parametrize("what", OF_REQUESTS)
def test_drift_reports_planted_difference_of_request(what: str) -> None:
    plant, seen = OF_REQUESTS[what]
    assert [
        re.fullmatch(f"FetchRequest {seen}", line) is not None
        for line in _planted("FetchRequest", plant)
    ] == [True]


def test_drift_matches_renamed_field_by_its_neighbours() -> None:
    """So a new name does not hide what else changed."""
    change = {"name": "Watermark", "nullableVersions": "0+", "type": "string"}
    found = _planted("FetchResponse", lambda raw: _field(raw, *PARTITION, "Records").update(change))
    assert any("responses.partitions.records: field: ours there" in line for line in found)
    assert any("responses.partitions.watermark: field: ours absent" in line for line in found)
    renamed = {"name": "Batches", "nullableVersions": "5+"}
    found = _planted(
        "FetchResponse", lambda raw: _field(raw, *PARTITION, "Records").update(renamed)
    )
    place = "responses.partitions.records"
    assert found == [
        f"FetchResponse v0-18 {place}: name: ours records, theirs batches",
        f"FetchResponse v0-4 {place}: nullable: ours True, theirs False",
    ]


def test_drift_ignores_versions_and_messages_of_later_releases() -> None:
    """3.0 has Fetch up to version 12, and no share groups: that is right."""
    raw = loaded_text("FetchRequest")
    raw["validVersions"] = "0-12"
    theirs = {"FetchRequest": read_definition(json.dumps(raw), "older")}
    found = [line for line in _unlisted(theirs, "3.0.2") if line.startswith("FetchRequest")]
    assert found == []
    assert not any("ShareFetch" in line for line in _unlisted(theirs, "3.0.2"))
    raw["validVersions"] = "0-13"
    theirs = {"FetchRequest": read_definition(json.dumps(raw), "too early")}
    assert "FetchRequest v13: first release: ours 3.1 or later, theirs there already" in _unlisted(
        theirs, "3.0.2"
    )
    raw["validVersions"] = "0-11"
    theirs = {"FetchRequest": read_definition(json.dumps(raw), "too old")}
    assert "FetchRequest v12: version: ours there, theirs absent" in _unlisted(theirs, "3.0.2")


def test_drift_compares_release_with_layout_of_that_release() -> None:
    theirs = {"EndQuorumEpochRequest": our_definition("EndQuorumEpochRequest", "2.7.2")}
    wrong = (
        "EndQuorumEpochRequest v0 topics.partitions.replica_id: field: ours absent, theirs there"
    )
    assert wrong in _unlisted(theirs, "2.8.2")
    assert not any(line.startswith("EndQuorumEpochReq") for line in _unlisted(theirs, "2.7.2"))


def test_drift_reports_message_without_own_definition() -> None:
    text = '{"name": "New", "type": "data", "validVersions": "0-1", "fields": []}'
    theirs = {**_ours(), "New": read_definition(text, "new")}
    assert _unlisted(theirs) == ["New v0-1: message: ours absent, theirs there"]
    stub = read_definition(text.replace("0-1", "none"), "stub")
    assert _unlisted({**_ours(), "New": stub}) == []


def test_definitions_of_old_releases_are_parsed() -> None:
    text = """
      // a comment
      {"name": "OldRequest", "type": "request", "apiKey": 1, "validVersions": "0-1",
       "deprecatedVersions": "0", "fields": [
        // another, with a brace }
        /* and one of
           two lines */
        {"name": "Flag", "about": "// no comment, ] /* nor this", "type": "bool",
         "versions": "0+", /* here, too */ "ignorable": "true", "mapKey": "false"}, // and here
       ]}
      ]}"""
    found = read_definition(text, "old")
    assert found.spec.root.fields[0].ignorable is True
    assert found.marks["OldRequest", "flag"].map_key is False
    assert not found.spec.flexible
    for broken in ("", "[]", "{", '"text"', '{"name": 1}'):
        with pytest.raises(DefinitionError, match="old"):
            read_definition(broken, "old")

"""The table of harmless requests against the codec, and what makes its requests harmless."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from harness.codec import decode, encode
from harness.codec.apis import APIS, Api
from harness.codec.dictionary_form import to_dict
from harness.codec.structs import Message, Request, Struct
from harness.codec.versions import VersionRange
from harness.conformance.harmless_requests import (
    HarmlessRequestsError,
    Safety,
    load_harmless_requests,
)
from harness.sweep import requests as binding
from harness.sweep.requests import OwnNames, build, harmless_request, safety_of

NAMES = OwnNames("kc-own-name", UUID(int=77))
TABLE = load_harmless_requests()
each_api = pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)

# Texts that are no names: protocols, mechanisms, kinds of things.
WORDS = {"consumer", "range", "user", "User", "producer_byte_rate", "PLAIN", "kafka-conformance",
         "1.0", "__cluster_metadata"}  # fmt: skip
NO_NODE = 2**31 - 1
# What these do with all fields at their defaults was seen to take broker 0 out of its cluster,
# or is of the same kind.
TAKES_NODES_OUT = {"UnregisterBroker", "UnregisterController", "RemoveRaftVoter",
                   "ControlledShutdown"}  # fmt: skip


def _requests(api: Api) -> Iterator[tuple[int, Request[Message]]]:
    for version in api.valid_versions:
        yield version, harmless_request(api.name, version, NAMES)


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(field name, value) of every scalar in a JSON form."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    else:
        yield name, value


def test_harmless_table_has_exactly_apis_of_codec() -> None:
    assert set(TABLE) == {api.name for api in APIS.values()}


@each_api
def test_harmless_request_round_trips_at_every_version(api: Api) -> None:
    for version, request in _requests(api):
        assert type(request) is api.request
        assert decode(api.request, version, encode(request, version)) == request


@each_api
def test_table_entries_name_only_existing_versions(api: Api) -> None:
    entry = TABLE[api.name]
    for text in [one.versions for one in entry.requests]:
        named = VersionRange.parse(text)
        assert named.lowest in api.valid_versions
        assert text.endswith("+") or named.highest in api.valid_versions


@each_api
def test_harmless_requests_name_only_own_resources(api: Api) -> None:
    for version, request in _requests(api):
        for field, value in _leaves(to_dict(request, version)):
            if isinstance(value, str) and value and field not in ("hmac", "client_host_address"):
                ours = value in (NAMES.name, str(NAMES.uuid), str(UUID(int=0)))
                assert ours or value in WORDS, f"v{version} {field} names {value!r}"


@each_api
def test_harmless_requests_name_no_existing_node(api: Api) -> None:
    for version, request in _requests(api):
        for field, value in _leaves(to_dict(request, version)):
            if field in ("broker_id", "controller_id", "voter_id"):
                assert value in (NO_NODE, -1), f"v{version} {field} is {value}"


@each_api
def test_harmless_requests_set_validate_only_if_available(api: Api) -> None:
    for version, request in _requests(api):
        fields = {field.name: field for field in request.spec.fields}
        if "validate_only" in fields and version in fields["validate_only"].versions:
            assert getattr(request, "validate_only", None) is True, f"v{version}"


@each_api
def test_harmless_requests_have_max_wait_0(api: Api) -> None:
    """An answer has to come at once: there are hundreds."""
    for version, request in _requests(api):
        assert getattr(request, "max_wait_ms", 0) == 0, f"v{version}"


def test_apis_that_remove_nodes_are_marked_destructive() -> None:
    assert {name for name in TAKES_NODES_OUT if safety_of(name) is not Safety.DESTRUCTIVE} == set()


def test_basic_client_apis_are_not_marked_destructive() -> None:
    """The mark is for nodes and the quorum; a client's API under it would hardly be judged."""
    clients = ("Produce", "Fetch", "Metadata", "JoinGroup", "CreateTopics", "ApiVersions")
    assert {safety_of(name) for name in clients} == {Safety.READ, Safety.OWN_NAMES}


# -- a table that is wrong -------------------------------------------------------------------------

ENTRY = {"name": "Heartbeat", "safety": "own-names", "why": "nobody's"}


def _table(folder: Path, fields: str, *, versions: str = "0+", **entry: str) -> Path:
    lines = [f"{key} = {json.dumps(value)}" for key, value in {**ENTRY, **entry}.items()]
    text = "\n".join(["[[api]]", *lines, "[[api.request]]", f'versions = "{versions}"', fields])
    (folder / "made.toml").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("change", "fields", "message"),
    [
        ({"safety": "harmless"}, "fields = {}", "safety: \"harmless\" is none of read"),
        ({"versions": "1 to 3"}, "fields = {}", "versions: .* does not have the right form"),
        ({}, 'fields = { group_id = "$nam" }', r"fields\.group_id: '\$nam' is none of \$name"),
        ({}, "fields = { a = [{ b = 2026-01-01 }] }", r"fields\.a\[0\]\.b: .* no value"),
        ({}, "feilds = {}", 'fields: is missing or not a table'),
        ({}, "fields = {}\nwhat = 1", "what: unknown key"),
        ({"why": " "}, "fields = {}", "why: ' ' is not a non-empty string"),
    ],
)  # fmt: skip
def test_wrong_table_entry_raises_error_naming_field(
    tmp_path: Path, change: dict[str, str], fields: str, message: str
) -> None:
    with pytest.raises(HarmlessRequestsError, match=message):
        load_harmless_requests(_table(tmp_path, fields, **change))


def test_two_entries_for_an_api_are_refused(tmp_path: Path) -> None:
    file = _table(tmp_path, "fields = {}") / "made.toml"
    file.write_text(file.read_text() + "\n" + file.read_text())
    with pytest.raises(HarmlessRequestsError, match="Heartbeat has an entry already"):
        load_harmless_requests(tmp_path)


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarmlessRequestsError, match="holds no table"):
        load_harmless_requests(tmp_path)


@pytest.mark.parametrize(
    ("fields", "versions", "at", "message"),
    [
        ("fields = { group_instance_id = 'x' }", "0+", 2, r"group_instance_id: .* versions 3\+ do"),
        ("fields = { groupid = 'x' }", "0+", 0, "groupid: no such field"),
        ("fields = {}", "1+", 0, "the table has 0"),
    ],
)
def test_a_request_that_does_not_fit_its_version_is_refused(
    tmp_path: Path, fields: str, versions: str, at: int, message: str
) -> None:
    """A field that would silently stay behind could be the one that makes a request harmless."""
    made = load_harmless_requests(_table(tmp_path, fields, versions=versions))["Heartbeat"]
    with pytest.raises(HarmlessRequestsError, match=message):
        build("Heartbeat", at, made.requests, NAMES)


def test_a_nested_field_of_another_version_is_refused(tmp_path: Path) -> None:
    fields = 'fields = { members = [{ member_id = "$name", reason = "x" }] }'
    made = load_harmless_requests(_table(tmp_path, fields, name="LeaveGroup"))["LeaveGroup"]
    with pytest.raises(HarmlessRequestsError, match=r"members\[0\].reason: .* versions 5\+ do"):
        build("LeaveGroup", 4, made.requests, NAMES)
    assert isinstance(build("LeaveGroup", 5, made.requests, NAMES), Struct)


def test_api_without_table_entry_raises_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "load_harmless_requests", dict)
    with pytest.raises(HarmlessRequestsError, match="has no API Fetch"):
        harmless_request("Fetch", 4, NAMES)

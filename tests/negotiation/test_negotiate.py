"""The highest common version, and the features that depend on it."""

from pathlib import Path

import pytest

from harness.codec.apis import api_named
from harness.negotiation.client_file import ClientFile, read_client_file
from harness.negotiation.negotiate import negotiate

TEXT = """
client = "mine"
release = "1"
source = "here"
without_api_versions = "it gives up"

[versions]
Produce = "3-9"
Fetch = "4-11"
Metadata = "0-4"

[[feature]]
name = "zstd"
meaning = "zstandard"
needs = {Produce = "7+", Fetch = "10+"}

[[feature]]
name = "names"
meaning = "by either"
needs = {Metadata = "4+"}

[[feature]]
name = "names"
meaning = "by either"
needs = {Fetch = "11+"}
"""


@pytest.fixture
def client(tmp_path: Path) -> ClientFile:
    path = tmp_path / "mine-1.toml"
    path.write_text(TEXT, "utf-8")
    return read_client_file(path)


def keys(**ranges: tuple[int, int]) -> dict[int, tuple[int, int]]:
    return {api_named(name).key: pair for name, pair in ranges.items()}


def test_negotiation_selects_highest_common_version(client: ClientFile) -> None:
    found = negotiate(client, keys(Fetch=(0, 5), Produce=(0, 20), Metadata=(5, 9)))
    assert [(row.api, row.version) for row in found.agreed] == [
        ("Produce", 9),
        ("Fetch", 5),
        ("Metadata", None),
    ]


def test_api_absent_from_broker_has_no_version(client: ClientFile) -> None:
    assert negotiate(client, {}).agreed[0].version is None


def test_feature_requires_all_its_apis(client: ClientFile) -> None:
    found = negotiate(client, keys(Produce=(0, 7), Fetch=(0, 9)))
    zstd = found.features[0]
    assert not zstd.kept
    assert zstd.missing == ("Fetch 10+ (the broker has 0-9)",)
    assert negotiate(client, keys(Produce=(0, 7), Fetch=(0, 10))).features[0].kept


def test_alternative_needs_keep_feature_and_it_is_listed_once(client: ClientFile) -> None:
    by_fetch = negotiate(client, keys(Fetch=(0, 11)))
    assert [(state.name, state.kept) for state in by_fetch.features][1:] == [("names", True)]
    assert [state.name for state in negotiate(client, {}).lost] == ["zstd", "names"]


def test_produce_placeholder_versions_are_ignored(client: ClientFile) -> None:
    """A 4.x broker shows Produce 0 to 2 and serves 3 and up (KAFKA-18659)."""
    four = keys(Produce=(0, 13), Fetch=(4, 18), ApiVersions=(0, 5))
    assert str(negotiate(client, four).agreed[0].broker) == "3-13"

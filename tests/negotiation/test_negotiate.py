"""The highest common version, and the features that depend on it."""

from pathlib import Path

import pytest

from harness.codec.apis import api_named
from harness.negotiation.client_file import ClientFile, read_client_file
from harness.negotiation.negotiate import least_levels, negotiate

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
name = "batches"
meaning = "of a feature of the cluster"
needs = {Produce = "3+"}
finalized = {"kept.version" = 1, "group.version" = 2}

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
    found = negotiate(client, keys(Fetch=(0, 5), Produce=(0, 20), Metadata=(5, 9)), {})
    assert [(row.api, row.version) for row in found.agreed] == [
        ("Produce", 9),
        ("Fetch", 5),
        ("Metadata", None),
    ]


def test_api_absent_from_broker_has_no_version(client: ClientFile) -> None:
    assert negotiate(client, {}, {}).agreed[0].version is None


def test_feature_requires_all_its_apis(client: ClientFile) -> None:
    found = negotiate(client, keys(Produce=(0, 7), Fetch=(0, 9)), {})
    zstd = found.features[0]
    assert not zstd.kept
    assert zstd.missing == ("Fetch 10+ (the broker has 0-9)",)
    assert negotiate(client, keys(Produce=(0, 7), Fetch=(0, 10)), {}).features[0].kept


def test_alternative_needs_keep_feature_and_it_is_listed_once(client: ClientFile) -> None:
    by_fetch = negotiate(client, keys(Fetch=(0, 11)), {})
    assert [(state.name, state.kept) for state in by_fetch.features][2:] == [("names", True)]
    lost = ["zstd", "batches", "names"]
    assert [state.name for state in negotiate(client, {}, {}).lost] == lost


def test_produce_placeholder_versions_are_ignored(client: ClientFile) -> None:
    """A 4.x broker shows Produce 0 to 2 and serves 3 and up (KAFKA-18659)."""
    four = keys(Produce=(0, 13), Fetch=(4, 18), ApiVersions=(0, 5))
    assert str(negotiate(client, four, {}).agreed[0].broker) == "3-13"


@pytest.mark.parametrize(
    ("levels", "missing"),
    [
        ({"kept.version": 1, "group.version": 2}, ()),
        ({"kept.version": 3, "group.version": 3}, ()),
        (
            {"kept.version": 1, "group.version": 1},
            ("group.version finalized at level 2 (the cluster has level 1)",),
        ),
        ({"kept.version": 1}, ("group.version finalized at level 2 (the cluster has none)",)),
    ],
)
def test_feature_requires_finalized_features_of_cluster(
    client: ClientFile, levels: dict[str, int], missing: tuple[str, ...]
) -> None:
    found = negotiate(client, keys(Produce=(3, 9)), levels)
    (state,) = (one for one in found.features if one.name == "batches")
    assert state.missing == missing


def test_negotiation_tells_absent_apis_from_those_without_common_version(
    client: ClientFile,
) -> None:
    found = negotiate(client, keys(Produce=(0, 9), Metadata=(5, 9)), {})
    assert [row.api for row in found.without_common_version] == ["Metadata"]
    assert [row.api for row in found.absent] == ["Fetch"]


@pytest.mark.parametrize(
    ("ranges", "levels", "whole"),
    [
        ({"Produce": (3, 9), "Fetch": (4, 11), "Metadata": (0, 4)}, 2, True),
        ({"Produce": (3, 9), "Fetch": (4, 11), "Metadata": (0, 4)}, 1, False),
        ({"Produce": (3, 9), "Fetch": (4, 11), "Metadata": (5, 9)}, 2, False),
        ({"Produce": (3, 9), "Fetch": (4, 11)}, 2, False),
        ({"Produce": (3, 6), "Fetch": (4, 11), "Metadata": (0, 4)}, 2, False),
    ],
)
def test_negotiation_is_whole_when_nothing_is_lost(
    client: ClientFile, ranges: dict[str, tuple[int, int]], levels: int, whole: bool
) -> None:
    finalized = {"kept.version": 1, "group.version": levels}
    assert negotiate(client, keys(**ranges), finalized).is_whole is whole


def test_cluster_has_the_features_of_all_nodes_at_their_least_level() -> None:
    nodes = [{"group.version": 1, "share.version": 2}, {"share.version": 1}]
    assert least_levels(nodes) == {"share.version": 1}
    assert least_levels([]) == {}

"""Clusters of two releases: target strings, configurations, and real ones in the middle."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.targets.asking import ask_api_versions, ask_finalized_features
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.info import TargetInfo, probe
from harness.targets.kafka.broker_config import server_properties
from harness.targets.kafka.eras import Mode, choose_mode
from harness.targets.kafka.plan import KafkaPlan, NodePlan
from harness.targets.kafka.rolling_upgrade import RollingUpgrade, usually_upgraded
from harness.targets.kafka.zookeeper import PIN
from harness.targets.spec import expand_targets, parse_target
from harness.targets.target import JOIN_AS_BROKER, LINKS, OWN_BROKER, UPGRADE
from tests.targets import kinds
from tests.targets.round_trip import round_trip

ANSWER_MS = 30_000
FETCH = 1


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("kafka:3.9.2,with=2.8.2,nodes=3", ["newer release than 3.9.2", "kafka:OLDER,with=NEWER"]),
        ("kafka:3.9.2,with=3.9.2,nodes=3", ["newer release than 3.9.2"]),
        ("kafka:2.8.2,with=4.0.2,nodes=3", ["4.0.2 has no mode zk", "take mode=kraft"]),
        ("kafka:2.7.2,with=4.0.2,nodes=3", ["4.0.2 has no mode zk", "migration to KRaft"]),
        ("kafka:2.8.2,mode=kraft,with=3.9.2,nodes=3", ["cannot have a controller beside"]),
        ("kafka:3.2.3,mode=kraft,with=4.0.2,nodes=3", ["no metadata.version before 3.3-IV3"]),
        ("kafka:3.9.2,with=4.4.0", ["one node cannot be of two releases", "nodes=3"]),
        ("kafka:3.9.2,with=4.4.0,nodes=3,upgraded=4", ["there is no node 4", "1, 2, 3, 100"]),
        ("kafka:2.8.2,with=3.9.2,nodes=3,upgraded=1+2+3", ["nodes of both releases"]),
        ("kafka:3.9.2,with=4.4.0,nodes=3,upgraded=two", ["upgraded=two: must be ids", "2+3"]),
        ("kafka:3.9.2,nodes=3,upgraded=2", ["with=RELEASE is missing, the release of these nodes"]),
        ("kafka:2.8.2,with=3.9.2..4.4.0,nodes=3", ["must be one release"]),
        ("kafka:2.8.2,with=3.9,nodes=3", ["not pinned", 'did you mean "3.9.2"']),
    ],
)
def test_impossible_upgrade_raises_target_error(spec: str, words: list[str]) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(spec)
    for each in words:
        assert each in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("kafka:2.8.2,with=3.9.2,nodes=3,upgraded=3", "kafka:2.8.2,with=3.9.2,nodes=3"),
        ("kafka:3.9.2,nodes=3,with=latest", "kafka:3.9.2,with=4.4.0,nodes=3"),
        (
            "kafka:3.9.2,with=4.4.0,nodes=3,upgraded=100+2",
            "kafka:3.9.2,with=4.4.0,nodes=3,upgraded=2+100",
        ),
    ],
)
def test_upgrade_has_canonical_spec(spec: str, canonical: str) -> None:
    assert parse_target(spec).spec == canonical
    assert expand_targets(canonical) == [canonical]


def test_target_of_two_releases_has_both_and_no_single_private_broker() -> None:
    target = parse_target("kafka:2.8.2,with=3.9.2,nodes=3")
    assert (target.release, target.newer) == ("2.8.2", "3.9.2")
    assert not target.capabilities & {UPGRADE, JOIN_AS_BROKER}
    assert LINKS in target.capabilities
    with pytest.raises(MissingCapability) as caught:
        target.start_another()
    assert caught.value.capability == OWN_BROKER


def test_releases_with_other_kinds_of_listeners_lack_links() -> None:
    assert LINKS not in parse_target("kafka:0.10.1.1,with=2.8.2,nodes=3").capabilities


@pytest.mark.parametrize(("brokers", "upgraded"), [(2, {2}), (3, {3}), (4, {3, 4}), (5, {4, 5})])
def test_upgraded_brokers_are_last_half(brokers: int, upgraded: set[int]) -> None:
    assert usually_upgraded(brokers) == upgraded


# -- configuration -------------------------------------------------------------------------------


def planned(older: str, newer: str, upgraded: set[int], mode: str | None = None) -> NodePlan:
    upgrade = RollingUpgrade(newer, frozenset(upgraded))
    plan = KafkaPlan(older, choose_mode(older, mode), 3, {}, upgrade=upgrade)
    addresses = [Address("127.0.0.1", 1000 + number) for number in range(plan.ports)]
    return plan.nodes(Path("/data"), addresses)


def settings_of(nodes: NodePlan) -> dict[int, dict[str, str]]:
    return {
        node.node_id: dict(line.split("=", 1) for line in server_properties(node).splitlines())
        for node in (*nodes.brokers, *nodes.controllers)
    }


@pytest.mark.parametrize(
    ("older", "newer", "level"),
    [
        ("2.8.2", "3.9.2", {"inter.broker.protocol.version": "2.8"}),
        ("0.10.2.2", "2.8.2", {"log.message.format.version": "0.10.2"}),
        ("0.8.2.2", "0.9.0.1", {"inter.broker.protocol.version": "0.8.2"}),
    ],
)
def test_upgraded_brokers_keep_level_with_zookeeper(
    older: str, newer: str, level: dict[str, str]
) -> None:
    nodes = planned(older, newer, {2})
    assert [node.release for node in nodes.brokers] == [older, newer, older]
    written = settings_of(nodes)
    assert level.items() <= written[2].items()
    for node in (1, 3):
        assert not level.keys() & written[node].keys(), "the older release has this level itself"


def test_upgraded_kraft_nodes_are_formatted_by_older_release() -> None:
    nodes = planned("3.9.2", "4.4.0", {3, 100})
    releases = {node.node_id: node.release for node in (*nodes.brokers, *nodes.controllers)}
    assert releases == {1: "3.9.2", 2: "3.9.2", 3: "4.4.0", 100: "4.4.0"}
    for node in (*nodes.brokers, *nodes.controllers):
        assert node.as_formatted.release == "3.9.2"
    assert "inter.broker.protocol.version" not in settings_of(nodes)[3]


def test_nodes_of_one_release_format_their_own_directories() -> None:
    addresses = [Address("127.0.0.1", 1000 + number) for number in range(2)]
    (broker,) = KafkaPlan("3.9.2", Mode.KRAFT, 1, {}).nodes(Path("/data"), addresses).brokers
    assert replace(broker, release="4.4.0").as_formatted.release == "4.4.0"


def test_older_release_decides_on_listeners_and_racks() -> None:
    written = settings_of(planned("0.9.0.1", "2.8.2", {3}))
    assert written[3]["listeners"].startswith("PLAINTEXT://")
    assert "inter.broker.listener.name" not in written[3]
    assert "broker.rack" not in written[3], "all brokers have one, or none"


# -- real clusters -------------------------------------------------------------------------------


def started_and_probed(spec: str, log_dir: Path) -> tuple[TargetInfo, list[tuple[int, int]]]:
    """The probed target, and the versions of Fetch that each broker advertises."""
    with parse_target(spec, log_dir=log_dir) as target:
        round_trip(target)
        info = probe(target)
        each = [ask_api_versions(address, ANSWER_MS)[FETCH] for address in target.addresses]
    return info, each


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize(
    ("spec", "own", "common"),
    [
        ("kafka:2.8.2,with=3.9.2,nodes=3", [(0, 12), (0, 12), (0, 17)], (0, 12)),
        ("kafka:3.9.2,with=4.4.0,nodes=3", [(0, 17), (0, 17), (4, 18)], (4, 17)),
        ("kafka:0.10.2.2,with=2.8.2,nodes=2", [(0, 3), (0, 12)], (0, 3)),
    ],
)
def test_each_node_advertises_versions_of_its_release(
    spec: str, own: list[tuple[int, int]], common: tuple[int, int], tmp_path: Path
) -> None:
    releases = spec.removeprefix("kafka:").replace("with=", "").split(",")[:2]
    kinds.need_kafka(*releases, PIN)
    info, each = started_and_probed(spec, tmp_path)
    assert each == own
    assert info.api_versions[FETCH] == common
    assert TargetInfo.from_json(info.to_json()) == info
    assert [info.release, info.newer] == releases


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("upgraded", ["3", "2+100"])
def test_kraft_cluster_keeps_finalized_level_of_older_release(
    upgraded: str, tmp_path: Path
) -> None:
    kinds.need_kafka("4.0.2", "4.4.0")
    older = {"metadata.version": 25, "transaction.version": 2, "group.version": 1}
    spec = f"kafka:4.0.2,with=4.4.0,nodes=3,upgraded={upgraded}"
    with parse_target(spec, log_dir=tmp_path) as target:
        for address in target.addresses:
            assert ask_finalized_features(address, ANSWER_MS) == older

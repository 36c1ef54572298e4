"""The releases of Kafka, their differences, and the configuration of each."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.targets.artifacts import pinned_releases
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.kafka.broker_config import server_properties
from harness.targets.kafka.eras import choose_mode, modes_of
from harness.targets.kafka.plan import KafkaPlan, NodePlan
from harness.targets.kafka.release import (
    JUDGED,
    latest_release,
    line_of,
    release_key,
    releases_between,
)
from harness.targets.kafka.target import KafkaTarget
from harness.targets.linked import LinkedKafka
from harness.targets.target import LINKS, RESTART_NODE


def test_releases_are_ordered_by_number() -> None:
    releases = ["0.10.2.2", "4.4.0", "0.9.0.1", "0.8.0", "3.9.2", "0.10.0.1"]
    ordered = ["0.8.0", "0.9.0.1", "0.10.0.1", "0.10.2.2", "3.9.2", "4.4.0"]
    assert sorted(releases, key=release_key) == ordered
    assert [line_of(release) for release in ordered] == [
        "0.8.0", "0.9.0", "0.10.0", "0.10.2", "3.9", "4.4",
    ]  # fmt: skip


def test_releases_between_and_latest_release_follow_pins() -> None:
    assert latest_release() == pinned_releases()[-1]
    assert releases_between("0.9.0.1", "0.10.0.1") == ["0.9.0.1", "0.10.0.1"]
    assert releases_between("3.9.2", "3.9.2") == ["3.9.2"]
    assert releases_between("0.8.0", latest_release()) == list(JUDGED)
    assert releases_between("4.0.0", "4.0.2") == ["4.0.0", "4.0.1", "4.0.2"]
    assert releases_between("3.9.1", "4.1.0") == ["3.9.1", "3.9.2", "4.0.2", "4.1.0"]


def test_one_pinned_release_of_each_minor_line_is_judged_at_depth() -> None:
    assert set(JUDGED) <= set(pinned_releases())
    lines = [line_of(release) for release in JUDGED]
    assert len(lines) == len(set(lines))
    assert set(lines) == {line_of(release) for release in pinned_releases()}
    assert sorted(JUDGED, key=release_key) == list(JUDGED)


@pytest.mark.parametrize(
    ("first", "last", "says"),
    [
        ("4.4.0", "3.9.2", r"4\.4\.0\.\.3\.9\.2 begins with the newer"),
        ("3.9.2", "4.4.1", r"'4\.4\.1' is not pinned - did you mean"),
        ("new", "4.4.0", "'new' is not pinned"),
    ],
)
def test_invalid_release_range_raises_target_error(first: str, last: str, says: str) -> None:
    with pytest.raises(TargetError, match=says):
        releases_between(first, last)


@pytest.mark.parametrize(
    ("release", "modes"),
    [
        ("0.8.0", ["zk"]),
        ("2.7.2", ["zk"]),
        ("2.8.2", ["zk", "kraft"]),
        ("3.0.2", ["zk", "kraft"]),
        ("3.3.2", ["kraft", "zk"]),
        ("3.9.2", ["kraft", "zk"]),
        ("4.0.2", ["kraft"]),
    ],
)
def test_release_has_modes_and_default_mode(release: str, modes: list[str]) -> None:
    assert [mode.value for mode in modes_of(release)] == modes
    assert choose_mode(release, None).value == modes[0]


@pytest.mark.parametrize(
    ("release", "options", "says"),
    [
        ("4.0.2", {"mode": "zk"}, "has no ZooKeeper mode: it ended with 3.9"),
        ("2.7.2", {"mode": "kraft"}, "has no KRaft mode: it began with 2.8"),
        ("3.9.2", {"mode": "raft"}, "unknown mode 'raft'; the modes are: zk, kraft"),
        ("3.9.2", {"nodes": 0}, "nodes=0: 1 to 99 brokers"),
        ("2.8.2", {"mode": "kraft", "nodes": 3}, "2.8.2 with KRaft cannot .* take mode=zk"),
        ("4.4.0", {"nodes": 3, "controllers": 10}, "controllers=10: 1 to 9 controllers can be"),
        ("4.4.0", {"nodes": 3, "controllers": 0}, "controllers=0: 1 to 9 controllers can be"),
        ("4.4.0", {"controllers": 3}, "controllers=3: a single node is broker and controller"),
        ("3.9.2", {"mode": "zk", "nodes": 3, "controllers": 3}, "controllers=3: with a ZooKeeper"),
        ("3.9.2", {"heap": "lots"}, "bad heap 'lots': a number and one of k, m, g"),
        ("3.9.2", {"heap": "0m"}, "bad heap '0m'"),
        ("0.7.2", {}, "0.7.2 is older than 0.8.0"),
        ("newest", {}, "'newest' is no release"),
    ],
)
def test_invalid_target_options_raise_target_error(
    release: str, options: dict[str, object], says: str
) -> None:
    with pytest.raises(TargetError, match=says):
        KafkaTarget(release, **options)  # type: ignore[arg-type]


def test_kraft_node_of_2_8_lacks_restart_and_links() -> None:
    alone = KafkaTarget("2.8.2", mode="kraft")
    with pytest.raises(MissingCapability, match="lacks the capability 'restart_node'"):
        alone.restart_node(1)
    with pytest.raises(TargetError, match="with KRaft cannot have a controller beside"):
        LinkedKafka("2.8.2", mode="kraft", nodes=1)
    for release, mode in [("2.8.2", "zk"), ("3.0.2", "kraft")]:
        assert RESTART_NODE in KafkaTarget(release, mode=mode, nodes=3).capabilities


def test_start_of_unpinned_release_raises_target_error() -> None:
    with pytest.raises(TargetError, match=r"Kafka 3\.9\.7 are not pinned; pinned: .*3\.9\.2"):
        KafkaTarget("3.9.7").start()


@pytest.mark.parametrize(
    ("options", "spec"),
    [
        ({}, "kafka:3.9.2"),
        ({"mode": "kraft", "nodes": 1, "heap": "256m"}, "kafka:3.9.2"),
        (
            {"heap": "1g", "nodes": 3, "mode": "zk", "settings": {"a.b": "1"}},
            "kafka:3.9.2,mode=zk,nodes=3,heap=1g,set.a.b=1",
        ),
        ({"nodes": 3, "controllers": 1}, "kafka:3.9.2,nodes=3"),
        ({"nodes": 3, "controllers": 2}, "kafka:3.9.2,nodes=3,controllers=2"),
    ],
)
def test_spec_omits_default_options(options: dict[str, object], spec: str) -> None:
    assert KafkaTarget("3.9.2", **options).spec == spec  # type: ignore[arg-type]


# -- configuration -------------------------------------------------------------------------------


def nodes(
    release: str,
    mode: str | None = None,
    brokers: int = 1,
    settings: Mapping[str, str] | None = None,
    controllers: int = 1,
) -> NodePlan:
    plan = KafkaPlan(release, choose_mode(release, mode), brokers, settings or {}, controllers)
    addresses = [Address("127.0.0.1", 1000 + number) for number in range(plan.ports)]
    return plan.nodes(Path("/data"), addresses)


def properties(release: str, mode: str | None = None, brokers: int = 1) -> dict[str, str]:
    """The properties of the first broker."""
    text = server_properties(nodes(release, mode, brokers).brokers[0])
    return dict(line.split("=", 1) for line in text.splitlines())


@pytest.mark.parametrize(
    ("release", "mode", "expected"),
    [
        ("0.8.0", "zk", {"host.name": "127.0.0.1", "port": "1000", "broker.id": "1"}),
        ("0.8.2.2", "zk", {"port": "1000", "advertised.port": "1000"}),
        ("0.9.0.1", "zk", {"advertised.listeners": "PLAINTEXT://127.0.0.1:1000"}),
        ("1.1.1", "zk", {"zookeeper.connect": "127.0.0.1:1001"}),
        ("2.8.2", "kraft", {"process.roles": "broker,controller", "node.id": "1"}),
        ("4.4.0", "kraft", {"controller.quorum.voters": "1@127.0.0.1:1001"}),
    ],
)
def test_node_properties_follow_era(release: str, mode: str, expected: dict[str, str]) -> None:
    written = properties(release, mode)
    assert expected.items() <= written.items()
    assert "broker.rack" not in written
    assert written["offsets.topic.replication.factor"] == "1"


def test_delete_topic_setting_is_written_only_where_needed() -> None:
    assert "delete.topic.enable" not in properties("0.8.1.1"), "it would stop the controller"
    for release in ("0.8.2.2", "0.11.0.3"):
        assert properties(release)["delete.topic.enable"] == "true"
    assert "delete.topic.enable" not in properties("1.0.2"), "it is the default there"


def test_cluster_has_internal_listener_if_listeners_have_names() -> None:
    written = properties("0.10.2.2", brokers=3)
    assert written["listeners"] == "INTERNAL://127.0.0.1:1004,CLIENT://127.0.0.1:1000"
    assert written["inter.broker.listener.name"] == "INTERNAL"
    assert written["broker.rack"] == "r1"
    old = properties("0.9.0.1", brokers=3)
    assert old["listeners"] == "PLAINTEXT://127.0.0.1:1000"
    assert "broker.rack" not in old


@pytest.mark.parametrize(
    ("release", "timeout_ms"), [("0.8.0", "6000"), ("0.8.2.2", "6000"), ("0.9.0.1", "1500")]
)
def test_zookeeper_session_timeout_is_longer_before_0_9(release: str, timeout_ms: str) -> None:
    assert properties(release, brokers=3)["zookeeper.session.timeout.ms"] == timeout_ms


@pytest.mark.parametrize(
    ("brokers", "replicas", "in_sync"), [(2, "2", "1"), (3, "3", "2"), (4, "3", "2")]
)
def test_replication_settings_follow_number_of_brokers(
    brokers: int, replicas: str, in_sync: str
) -> None:
    written = properties("4.4.0", brokers=brokers)
    for factor in ("default.replication.factor", "offsets.topic.replication.factor"):
        assert written[factor] == replicas
    assert written["min.insync.replicas"] == written["transaction.state.log.min.isr"] == in_sync


def test_kraft_cluster_has_separate_controller_node() -> None:
    plan = nodes("4.4.0", brokers=3)
    assert [each.node_id for each in plan.brokers] == [1, 2, 3]
    (controller,) = plan.controllers
    written = server_properties(controller)
    assert "process.roles=controller\n" in written
    assert "node.id=100\n" in written
    assert "listeners=CONTROLLER://127.0.0.1:1003\n" in written
    assert "advertised" not in written
    assert "process.roles=broker\n" in server_properties(plan.brokers[0])
    assert nodes("4.4.0").controllers == ()
    assert nodes("3.9.2", "zk", 3).controllers == ()


def test_all_nodes_list_all_controllers_as_voters() -> None:
    plan = nodes("4.4.0", brokers=3, controllers=2)
    voters = "controller.quorum.voters=100@127.0.0.1:1003,101@127.0.0.1:1004\n"
    for node in (*plan.brokers, *plan.controllers):
        assert voters in server_properties(node)
    second = server_properties(plan.controllers[1])
    assert "process.roles=controller\n" in second
    assert "node.id=101\n" in second
    assert "listeners=CONTROLLER://127.0.0.1:1004\n" in second
    assert plan.brokers[0].internal == Address("127.0.0.1", 1005)


def test_cluster_with_several_controllers_lacks_links() -> None:
    target = KafkaTarget("4.4.0", nodes=3, controllers=3)
    with pytest.raises(MissingCapability, match="lacks the capability 'links'"):
        target.start_another(nodes=3, links=True)
    assert LINKS in KafkaTarget("4.4.0", nodes=3).capabilities


def test_log_directories_follow_log_dirs_setting() -> None:
    assert nodes("4.4.0").brokers[0].log_directories == [Path("/data/node-1/log")]
    named = nodes("4.4.0", settings={"log.dirs": "/a, /b"}).brokers[0]
    assert named.log_directories == [Path("/a"), Path("/b")]
    relative = nodes("4.4.0", settings={"log.dirs": "log,other"}).brokers[0]
    assert relative.log_directories == [Path("/data/node-1/log"), Path("/data/node-1/other")]
    assert "log.dirs=/data/node-1/log,/data/node-1/other\n" in server_properties(relative)

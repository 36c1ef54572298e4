"""Clusters that migrate from ZooKeeper to KRaft: strings, configurations, real ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.targets.asking import ask_api_versions, ask_finalized_features
from harness.targets.errors import TargetError
from harness.targets.kafka.broker_config import NodeConfig, server_properties
from harness.targets.kafka.cluster import Programs
from harness.targets.kafka.eras import Mode
from harness.targets.kafka.migrating_cluster import MigratingCluster
from harness.targets.kafka.migration_plan import MigratingPlan, Phase
from harness.targets.kafka.zookeeper import PIN
from harness.targets.migrating import MigratingKafka
from harness.targets.spec import expand_targets, parse_target
from harness.targets.target import JOIN_AS_BROKER, LINKS, POWER_LOSS, UPGRADE
from tests.targets import kinds
from tests.targets.round_trip import round_trip

RELEASE = "3.9.2"
ANSWER_MS = 30_000
LEADER_AND_ISR = 4
MODE = f"kafka:{RELEASE},mode=migrating"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (f"{MODE},nodes=3", ["phase=PHASE is missing", "dual-write"]),
        (f"{MODE},phase=dual,nodes=3", ["phase=dual: no such phase", "zookeeper, dual-write"]),
        (f"kafka:{RELEASE},phase=dual-write", ["only mode=migrating has phases"]),
        ("kafka:4.0.2,mode=migrating,phase=zookeeper", ["4.0.2 has no ZooKeeper to migrate from"]),
        ("kafka:3.5.2,mode=migrating,phase=finalized", ["3.5.2 has no migration", "3.6 to 3.9"]),
        (f"{MODE},phase=finalized,with=4.4.0", ["with=4.4.0: all nodes of a migration"]),
        (f"{MODE},phase=finalized,controllers=10", ["controllers=10: 1 to 9"]),
        (f"{MODE},phase=finalized,nodes=0", ["nodes=0: "]),
    ],
)
def test_impossible_migration_raises_target_error(spec: str, words: list[str]) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(spec)
    for each in words:
        assert each in str(caught.value)


def test_migration_has_canonical_spec() -> None:
    spec = "kafka:3.8.1..3.9.2,phase=dual-write,nodes=3,controllers=3,mode=migrating"
    meant = [
        f"kafka:{release},mode=migrating,phase=dual-write,nodes=3,controllers=3"
        for release in ("3.8.1", "3.9.2")
    ]
    assert expand_targets(spec) == meant
    assert parse_target(meant[1]).spec == meant[1]


def test_migrating_target_lacks_capabilities_that_need_other_plans() -> None:
    target = parse_target(f"{MODE},phase=dual-write,nodes=3")
    assert not target.capabilities & {JOIN_AS_BROKER, LINKS, POWER_LOSS, UPGRADE}


@pytest.mark.parametrize(
    ("phase", "before"),
    [
        (Phase.ZOOKEEPER, []),
        (Phase.DUAL_WRITE, [Phase.ZOOKEEPER]),
        (Phase.FINALIZED, [Phase.ZOOKEEPER, Phase.DUAL_WRITE, Phase.KRAFT_BROKERS]),
        (Phase.ROLLED_BACK, [Phase.ZOOKEEPER, Phase.DUAL_WRITE]),
    ],
)
def test_path_to_phase_has_all_phases_before_it(phase: Phase, before: list[Phase]) -> None:
    assert list(phase.before) == before


# -- configuration -------------------------------------------------------------------------------


def properties(config: NodeConfig) -> dict[str, str]:
    return dict(line.split("=", 1) for line in server_properties(config).splitlines())


class Planned:
    """A plan with ports that count up from 1000, and the properties in each phase."""

    def __init__(self, brokers: int = 3) -> None:
        plan = MigratingPlan(RELEASE, Mode.ZK, brokers, {}, 1)
        addresses = [Address("127.0.0.1", 1000 + number) for number in range(plan.ports)]
        self.nodes = plan.nodes(Path("/data"), addresses)
        self._quorum = plan.quorum(addresses)

    def broker(self, phase: Phase) -> dict[str, str]:
        return properties(phase.broker(self.nodes.brokers[0], self._quorum))

    def controller(self, phase: Phase) -> dict[str, str]:
        return properties(phase.controller(self.nodes.controllers[0], self._quorum))


ZOOKEEPER = {"zookeeper.connect": "127.0.0.1:1007"}
MIGRATION = {"zookeeper.metadata.migration.enable": "true"}
QUORUM = {
    "controller.quorum.voters": "100@127.0.0.1:1003",
    "controller.listener.names": "CONTROLLER",
}
LEVEL = {"inter.broker.protocol.version": "3.9"}
OF_PHASES = {*ZOOKEEPER, *MIGRATION, *QUORUM, *LEVEL, "broker.id", "node.id", "process.roles"}


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        (Phase.ZOOKEEPER, {"broker.id": "1", **ZOOKEEPER}),
        (Phase.DUAL_WRITE, {"broker.id": "1", **ZOOKEEPER, **MIGRATION, **QUORUM, **LEVEL}),
        (Phase.KRAFT_BROKERS, {"node.id": "1", "process.roles": "broker", **QUORUM}),
        (Phase.FINALIZED, {"node.id": "1", "process.roles": "broker", **QUORUM}),
        (Phase.ROLLED_BACK, {"broker.id": "1", **ZOOKEEPER}),
    ],
)
def test_broker_has_settings_of_phase_and_no_others(phase: Phase, expected: dict[str, str]) -> None:
    written = Planned().broker(phase)
    assert {name: value for name, value in written.items() if name in OF_PHASES} == expected
    assert written["listeners"] == "INTERNAL://127.0.0.1:1004,CLIENT://127.0.0.1:1000"


def test_controller_knows_zookeeper_and_listener_of_brokers_until_finalized() -> None:
    planned = Planned()
    own = {"node.id": "100", "process.roles": "controller", **QUORUM}
    migrating = planned.controller(Phase.DUAL_WRITE)
    assert {**own, **ZOOKEEPER, **MIGRATION}.items() <= migrating.items()
    assert migrating["inter.broker.listener.name"] == "INTERNAL"
    assert "INTERNAL:PLAINTEXT" in migrating["listener.security.protocol.map"]
    finalized = planned.controller(Phase.FINALIZED)
    assert own.items() <= finalized.items()
    assert not {*ZOOKEEPER, *MIGRATION, "inter.broker.listener.name"} & finalized.keys()


def test_single_migrating_broker_maps_controller_listener() -> None:
    written = Planned(brokers=1).broker(Phase.DUAL_WRITE)
    assert written["listeners"] == "PLAINTEXT://127.0.0.1:1000"
    assert "CONTROLLER:PLAINTEXT" in written["listener.security.protocol.map"]


def test_phase_that_does_not_follow_raises_target_error(tmp_path: Path) -> None:
    plan = MigratingPlan(RELEASE, Mode.ZK, 3, {}, 1)
    cluster = MigratingCluster(plan, Programs({}, None), tmp_path)
    try:
        with pytest.raises(TargetError, match="finalized does not follow zookeeper; dual-write"):
            cluster.advance(Phase.FINALIZED)
        cluster.phase = Phase.ROLLED_BACK
        with pytest.raises(TargetError, match="does not follow rolled-back; none does"):
            cluster.advance(Phase.DUAL_WRITE)
    finally:
        cluster.end()


def test_config_of_phase_is_restored_by_way_back() -> None:
    planned = Planned()
    before = planned.broker(Phase.ZOOKEEPER)
    assert planned.broker(Phase.ROLLED_BACK) == before
    broker = planned.nodes.brokers[0]
    assert replace(broker, mode=Mode.ZK) == broker


# -- real clusters -------------------------------------------------------------------------------


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("phase", list(Phase))
def test_cluster_in_each_phase_serves_clients(phase: Phase, tmp_path: Path) -> None:
    """Brokers of both modes answer; only those with a ZooKeeper advertise LeaderAndIsr."""
    kinds.need_kafka(RELEASE, PIN)
    kraft = phase.broker_mode is Mode.KRAFT
    features = {"metadata.version": 21} if kraft else {}
    with MigratingKafka(RELEASE, phase, nodes=3, log_dir=tmp_path) as target:
        round_trip(target)
        assert target.nodes == [1, 2, 3]
        assert target.controller_nodes == ((100,) if phase.has_controllers else ())
        assert (target.zookeeper is None) == phase.has_controllers
        for address in target.addresses:
            assert (LEADER_AND_ISR in ask_api_versions(address, ANSWER_MS)) != kraft
            assert ask_finalized_features(address, ANSWER_MS) == features


@pytest.mark.kafka
@pytest.mark.deep
def test_single_broker_with_three_controllers_migrates(tmp_path: Path) -> None:
    kinds.need_kafka(RELEASE, PIN)
    phase = Phase.FINALIZED
    with MigratingKafka(RELEASE, phase, controllers=3, log_dir=tmp_path) as target:
        assert target.controller_nodes == (100, 101, 102)
        target.kill_node(100)
        target.restart_node(100)
        round_trip(target)


@pytest.mark.kafka
@pytest.mark.deep
def test_kraft_brokers_return_to_zookeeper_one_after_other(tmp_path: Path) -> None:
    kinds.need_kafka(RELEASE, PIN)
    seen: list[int] = []
    with MigratingKafka(RELEASE, Phase.KRAFT_BROKERS, nodes=3, log_dir=tmp_path) as target:
        for phase in (Phase.DUAL_WRITE, Phase.ROLLED_BACK):
            target.advance(phase, seen.append)
            round_trip(target, f"in-{phase.value}")
        assert target.spec == f"{MODE},phase=rolled-back,nodes=3"
        assert target.zookeeper is not None
    assert seen == [1, 2, 3, 1, 2, 3]

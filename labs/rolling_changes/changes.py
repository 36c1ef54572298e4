"""The changes of a cluster, one stage after the other, each of them node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    UpdateFeaturesRequest,
)
from harness.targets.errors import TargetError
from harness.targets.kafka.eras import Mode, choose_mode
from harness.targets.kafka.migration_plan import Phase
from harness.targets.kafka.rolling_upgrade import RollingUpgrade
from harness.targets.kafka.target import KafkaTarget
from harness.targets.migrating import MigratingKafka

NODES = 3
CLIENT_ID = "rolling-changes"
METADATA_VERSION = "metadata.version"
WITH_FEATURES = 3
UPGRADE_TYPE = 1
TIMEOUT_MS = 30_000
Between = Callable[[int], None]
"""Called with each node that is back."""


@dataclass(frozen=True)
class Stage:
    """``name``: the state of the cluster when ``apply`` is done."""

    name: str
    apply: Callable[[Between], None]


@dataclass(frozen=True)
class ClusterChange:
    """A target in its first state, named ``begins``, and the stages behind it."""

    name: str
    target: KafkaTarget
    begins: str
    stages: tuple[Stage, ...]


MIGRATIONS = {
    "migration": (Phase.DUAL_WRITE, Phase.KRAFT_BROKERS, Phase.FINALIZED),
    "way-back": (Phase.DUAL_WRITE, Phase.ROLLED_BACK),
    "long-way-back": (
        Phase.DUAL_WRITE,
        Phase.KRAFT_BROKERS,
        Phase.DUAL_WRITE,
        Phase.ROLLED_BACK,
    ),
}
"""The phases behind the first one; the last two lead back to it."""


def migration(name: str, release: str, log_dir: Path) -> ClusterChange:
    """One of ``MIGRATIONS``. Raises TargetError: this release cannot migrate."""
    target = MigratingKafka(release, Phase.ZOOKEEPER, nodes=NODES, log_dir=log_dir)

    def stage(phase: Phase) -> Stage:
        return Stage(phase.value, lambda between: target.advance(phase, between))

    stages = tuple(stage(phase) for phase in MIGRATIONS[name])
    return ClusterChange(name, target, Phase.ZOOKEEPER.value, stages)


def rolling_upgrade(older: str, newer: str, log_dir: Path) -> ClusterChange:
    """An upgrade with a stage for each node, and one for the level. Raises TargetError."""
    mode = choose_mode(newer, None)
    if mode is not choose_mode(older, None):
        mode = choose_mode(older, None)
    upgrade = RollingUpgrade(newer, frozenset({1}))
    target = KafkaTarget(older, mode=mode.value, nodes=NODES, log_dir=log_dir)
    upgrade.check(older, mode, range(1, NODES + 1))
    nodes = range(1, NODES + 1) if mode is Mode.ZK else (100, *range(1, NODES + 1))
    level = upgrade.level(older, mode)
    stages = [_one_node(target, node, newer, level) for node in nodes]
    if mode is Mode.ZK:
        last = Stage(f"{newer} at its own level", lambda between: _raise(target, newer, between))
    else:
        last = Stage(f"{newer} at its own level", lambda _: raise_metadata_version(target))
    return ClusterChange(f"{older} to {newer}", target, older, (*stages, last))


def _one_node(target: KafkaTarget, node: int, newer: str, level: dict[str, str]) -> Stage:
    def change(between: Between) -> None:
        target.upgrade_node(node, newer, level)
        between(node)

    return Stage(f"node {node} is {newer}", change)


def _raise(target: KafkaTarget, newer: str, between: Between) -> None:
    """Restart each broker without the settings of the older level."""
    for node in list(target.nodes):
        target.upgrade_node(node, newer, {})
        between(node)


def raise_metadata_version(target: KafkaTarget) -> None:
    """Finalize the highest metadata.version that a broker supports. Raises TargetError."""
    address = target.addresses[0]
    with Connection((address.host, address.port), CLIENT_ID, TIMEOUT_MS) as connection:
        about = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="0")
        supported = dict(_supported(connection.ask(about, WITH_FEATURES)))
        key = UpdateFeaturesRequest.FeatureUpdateKey(
            feature=METADATA_VERSION,
            max_version_level=supported[METADATA_VERSION],
            upgrade_type=UPGRADE_TYPE,
        )
        request = UpdateFeaturesRequest(timeout_ms=TIMEOUT_MS, feature_updates=[key])
        answer = connection.ask(request, 1)
    if answer.error_code != ErrorCode.NONE:
        raise TargetError(f"UpdateFeatures: {ErrorCode.describe(answer.error_code)}")


def _supported(answer: ApiVersionsResponse) -> Iterator[tuple[str, int]]:
    for feature in answer.supported_features:
        yield feature.name, feature.max_version

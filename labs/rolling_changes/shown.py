"""The answers of brokers to clients between two changes of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.base.address import Address
from harness.client.connection import Connection
from harness.codec.apis import api_for_key
from harness.codec.messages import DescribeClusterRequest
from harness.targets.asking import (
    FIRST_WITH_FEATURES,
    ApiVersionRanges,
    FeatureLevels,
    ask_api_versions,
    ask_cluster,
    ask_finalized_features,
)
from harness.targets.target import Target

ANSWER_MS = 30_000
SAMPLES = 10
API_VERSIONS, DESCRIBE_CLUSTER = 18, 60


@dataclass(frozen=True)
class ShownBroker:
    """The answers of one broker.

    ``controllers``: the controller ids in ten answers of Metadata; ``described``: in ten of
    DescribeCluster, none where it is not advertised. ``features``: those that are finalized.
    """

    controllers: tuple[int, ...]
    described: tuple[int, ...]
    brokers: tuple[int, ...]
    versions: ApiVersionRanges
    features: FeatureLevels


@dataclass(frozen=True)
class Shown:
    """``stage``: the change that is done; by node."""

    stage: str
    brokers: Mapping[int, ShownBroker]


def shown_by(target: Target, stage: str) -> Shown:
    """Ask each broker. Raises NotAnswered, BrokerMisbehaved."""
    addresses = dict(zip(target.nodes, target.addresses, strict=True))
    return Shown(stage, {node: _ask(address) for node, address in addresses.items()})


def _ask(address: Address) -> ShownBroker:
    versions = ask_api_versions(address, ANSWER_MS)
    seen = [ask_cluster(address, ANSWER_MS) for _ in range(SAMPLES)]
    described: list[int] = []
    if DESCRIBE_CLUSTER in versions:
        with Connection((address.host, address.port), "rolling-changes", ANSWER_MS) as connection:
            answers = [connection.ask(DescribeClusterRequest(), 0) for _ in range(SAMPLES)]
        described = [answer.controller_id for answer in answers]
    has_features = versions[API_VERSIONS][1] >= FIRST_WITH_FEATURES
    return ShownBroker(
        controllers=_distinct(-1 if one.controller is None else one.controller for one in seen),
        described=_distinct(described),
        brokers=tuple(sorted(seen[-1].nodes)),
        versions=versions,
        features=ask_finalized_features(address, ANSWER_MS) if has_features else {},
    )


def _distinct(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(ids)))


def version_changes(before: ApiVersionRanges, after: ApiVersionRanges) -> list[str]:
    """Return what differs between two advertised tables, in the order of the API keys."""
    told = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        told.append(f"{api_for_key(key).name} {_range(old)} -> {_range(new)}")
    return told


def _range(versions: tuple[int, int] | None) -> str:
    return "none" if versions is None else f"{versions[0]}-{versions[1]}"

"""Version negotiation of a client and a broker (KIP-35: the highest common version)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.client.placeholder_versions import served_range
from harness.codec.apis import api_named
from harness.codec.versions import VersionRange
from harness.negotiation.client_file import ClientFile, Feature


@dataclass(frozen=True, slots=True)
class Agreed:
    """One API: the versions of each side, and the ``version`` that is used, None without one."""

    api: str
    client: VersionRange
    broker: VersionRange
    version: int | None


@dataclass(frozen=True, slots=True)
class FeatureState:
    """One feature; ``missing``: a text per unmet need with what is needed and what is there."""

    name: str
    meaning: str
    since: str | None
    missing: tuple[str, ...]

    @property
    def kept(self) -> bool:
        """True if the client has the feature with this broker."""
        return not self.missing


@dataclass(frozen=True, slots=True)
class Negotiation:
    """A client at a broker; ``agreed`` in the order of API keys."""

    client: str
    agreed: tuple[Agreed, ...]
    features: tuple[FeatureState, ...]

    @property
    def lost(self) -> tuple[FeatureState, ...]:
        """The features that the client loses with this broker."""
        return tuple(feature for feature in self.features if not feature.kept)

    @property
    def without_common_version(self) -> tuple[Agreed, ...]:
        """The APIs that both sides have, without a version that both speak."""
        return tuple(row for row in self.agreed if row.version is None and row.broker)

    @property
    def absent(self) -> tuple[Agreed, ...]:
        """The APIs of the client that the broker does not have."""
        return tuple(row for row in self.agreed if not row.broker)

    @property
    def is_whole(self) -> bool:
        """True if the client can send each of its requests and has each of its features."""
        return not (self.lost or self.without_common_version or self.absent)


def negotiate(
    client: ClientFile, broker: Mapping[int, tuple[int, int]], finalized: Mapping[str, int]
) -> Negotiation:
    """``broker``: API key -> lowest and highest version, advertised or observed.

    Versions that are advertised as placeholders only (KAFKA-18659) do not count. ``finalized``:
    name of a feature of the cluster -> its level.
    """
    ranges = {key: VersionRange(*pair) for key, pair in broker.items()}
    served = {api: served_range(ranges, api) for api in client.versions}
    agreed = sorted(
        (_agree(api, spoken, served[api]) for api, spoken in client.versions.items()),
        key=lambda row: api_named(row.api).key,
    )
    states: dict[str, FeatureState] = {}
    for feature in client.features:
        state = _state(feature, client, served, finalized)
        if feature.name not in states or state.kept:
            states[feature.name] = state
    return Negotiation(client.name, tuple(agreed), tuple(states.values()))


def least_levels(levels: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Of the finalized features that each node shows: those of all nodes, at their least level."""
    names = sorted(set.intersection(*map(set, levels)) if levels else ())
    return {name: min(each[name] for each in levels) for name in names}


def _agree(api: str, client: VersionRange, broker: VersionRange) -> Agreed:
    common = client & broker
    return Agreed(api, client, broker, common.highest if common else None)


def _state(
    feature: Feature,
    client: ClientFile,
    served: Mapping[str, VersionRange],
    finalized: Mapping[str, int],
) -> FeatureState:
    missing = []
    for api, needed in feature.needs.items():
        there = served[api]
        if not needed & client.versions[api] & there:
            has = f"the broker has {there}" if there else "the broker has none"
            missing.append(f"{api} {needed} ({has})")
    for name, level in feature.finalized.items():
        if finalized.get(name, 0) < level:
            has = f"level {finalized[name]}" if name in finalized else "none"
            missing.append(f"{name} finalized at level {level} (the cluster has {has})")
    return FeatureState(feature.name, feature.meaning, feature.since, tuple(missing))

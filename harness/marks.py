"""Marks that a conformance test wears: which requirements it judges, at which versions.

.. code-block:: python

    @judges("PROD-011")
    @at_versions("Produce", "3+")
    def test_bad_crc_is_refused(broker: BrokerUnderTest, api_version: int) -> None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

from harness.codec.apis import Api, api_named
from harness.codec.versions import VersionRange
from harness.conformance.harmless_requests import Safety

PRIVATE = ("suites/replication/private/", "suites/durability/private/")
"""Where tests with private clusters stand; see :func:`private_cluster`."""

F = TypeVar("F", bound=Callable[..., object])


def judges(*requirement_ids: str) -> Callable[[F], F]:
    """The test records a check for each of these requirements."""
    return pytest.mark.judges(*requirement_ids)


def at_versions(api_name: str, *ranges: str) -> Callable[[F], F]:
    """Run once for each version, given as the argument ``api_version``; at all without a range.

    All released versions in the ranges count: where the target does not serve one, the case is
    recorded as not_supported. Several ranges, as "0-2", "3+", tell where the form of a message
    changes: a run at the ends alone takes the ends of each.
    """
    parsed = [VersionRange.parse(text) for text in ranges or ("0+",)]
    return pytest.mark.at_versions(api_named(api_name), *parsed)


def at_every_version(*safeties: Safety) -> Callable[[F], F]:
    """Run once for each API of this safety and each of its versions.

    The arguments are ``api_name`` and ``api_version``; all APIs that the codec knows count, what
    the target does not advertise is recorded as not_supported.
    """
    return pytest.mark.at_every_version(frozenset(safeties))


def discarded_broker() -> Callable[[F], F]:
    """The test gets a private broker that all tests with this mark share, then thrown away.

    Its settings are the defaults. For what could harm a broker that others use.
    """
    return pytest.mark.discarded_broker()


def _named(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings by Kafka's names, whose dots keywords cannot have."""
    return {key.replace("__", "."): value for key, value in settings.items()}


def joined_broker(**settings: str) -> Callable[[F], F]:
    """The test gets a private broker that it may join; tests without settings share one.

    ``settings`` as for ``own_broker``. Nobody leaves the broker because time has passed, unless
    they say so. Recorded as not_applicable where the target does not let the harness join.
    """
    return pytest.mark.joined_broker(_named(settings))


def own_broker(**settings: str) -> Callable[[F], F]:
    """The test gets a broker of its own, with these settings (dots written as ``__``)."""
    return pytest.mark.own_broker(_named(settings))


def tuned_broker(**settings: str) -> Callable[[F], F]:
    """As ``own_broker``, for tests that do the broker no harm.

    Those that follow one another with the same settings share one, as starts, and some first looks
    at logs, take long.
    """
    return pytest.mark.tuned_broker(_named(settings))


def kept_broker(**settings: str) -> Callable[[F], F]:
    """The fixture ``kept_broker`` is a broker of the test's own whose data outlives its process.

    ``settings`` as for ``own_broker``. Recorded as not_applicable where the target cannot have one.
    """
    return pytest.mark.kept_broker(_named(settings))


def needs_nodes(count: int) -> Callable[[F], F]:
    """The cluster of the test has to have so many brokers, where three are not enough."""
    return pytest.mark.needs_nodes(count)


def private_cluster(
    nodes: int = 0, *, links: bool = False, disks: bool = False, **settings: str
) -> Callable[[F], F]:
    """The test gets a cluster that no other test asks meanwhile, and may do harm to its nodes.

    ``nodes``: how many brokers it has, by default as many as the target; ``links``: each of its
    directed links can be cut (``cluster.links``), not_applicable where the target cannot have
    that; ``disks``: so it is where the disks of its nodes can lose power
    (``cluster.lose_power``); ``settings`` of its own (dots written as ``__``). Tests with this mark
    stand below one of :data:`PRIVATE`, so that one process runs them all: there is never more than
    one such cluster.
    """
    return pytest.mark.private_cluster(nodes, _named(settings), links, disks)


def offline() -> Callable[[F], F]:
    """The test asks no broker: it judges functions of ours that follow a document.

    The target by-document runs these tests and no others; elsewhere they are not_applicable.
    """
    return pytest.mark.offline()


def released_versions(api: Api, versions: VersionRange) -> list[int]:
    """The released versions of ``api`` within ``versions``."""
    within = api.valid_versions & versions
    return [version for version in within if version not in api.unstable_versions]


def ends_of(api: Api, versions: VersionRange) -> list[int]:
    """The first and the last of :func:`released_versions`."""
    released = released_versions(api, versions)
    return sorted({released[0], released[-1]})

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
"""Folders of the tests with private clusters; see :func:`private_cluster`."""

F = TypeVar("F", bound=Callable[..., object])


def judges(*requirement_ids: str) -> Callable[[F], F]:
    """The test records a check for each of these requirements."""
    return pytest.mark.judges(*requirement_ids)


def at_versions(api_name: str, *ranges: str) -> Callable[[F], F]:
    """Run once for each version, passed as ``api_version``; without a range at all versions.

    All released versions in the ranges count: if the target does not serve one, the case is
    recorded as not_supported. Several ranges, as "0-2", "3+", are for messages with several forms:
    a run at the ends alone takes the ends of each.
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
    """Give the test a private broker that all tests with this mark share; it is then discarded.

    Its settings are the defaults. For requests that could harm a broker of others.
    """
    return pytest.mark.discarded_broker()


def _named(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings by Kafka's names: ``__`` in a keyword stands for a dot."""
    return {key.replace("__", "."): value for key, value in settings.items()}


def joined_broker(**settings: str) -> Callable[[F], F]:
    """Give the test a private broker that it may join; tests without settings share one.

    ``settings`` as for ``own_broker``. By default no broker or replica is removed because time has
    passed. Recorded as not_applicable where the target does not let the harness join.
    """
    return pytest.mark.joined_broker(_named(settings))


def own_broker(**settings: str) -> Callable[[F], F]:
    """Give the test a broker of its own, with these settings (dots written as ``__``)."""
    return pytest.mark.own_broker(_named(settings))


def tuned_broker(**settings: str) -> Callable[[F], F]:
    """As ``own_broker``, for tests that do the broker no harm.

    Those that follow one another with the same settings share one, as starts, and some first looks
    at logs, take long.
    """
    return pytest.mark.tuned_broker(_named(settings))


def kept_broker(**settings: str) -> Callable[[F], F]:
    """The fixture ``kept_broker`` is a private broker with data that outlives its process.

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

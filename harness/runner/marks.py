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
from harness.runner.broker_request import BrokerRequest, Use

PRIVATE = ("suites/replication/private/", "suites/durability/private/")
"""Folders of the tests with private clusters; see :func:`needs_broker`."""

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


def needs_broker(
    use: Use,
    settings: Mapping[str, str] | None = None,
    *,
    nodes: int = 0,
    links: bool = False,
    disks: bool = False,
) -> Callable[[F], F]:
    """Give the test another broker than the run's, or a private cluster.

    The arguments are the fields of :class:`~harness.runner.broker_request.BrokerRequest`. Recorded
    as not_applicable where the target cannot have such a broker. Tests with a private cluster
    stand below one of :data:`PRIVATE`, so that one process runs them all where clusters are heavy.
    """
    request = BrokerRequest(use, settings or {}, nodes, links, disks)
    return pytest.mark.needs_broker(request)


def needs_nodes(count: int) -> Callable[[F], F]:
    """The cluster of the test has to have so many brokers, where three are not enough."""
    return pytest.mark.needs_nodes(count)


def needs_listener(*, tls: bool = False, sasl: bool = False) -> Callable[[F], F]:
    """The listener of the run has TLS, or SASL: elsewhere no private broker starts in vain."""
    return pytest.mark.needs_listener(tls, sasl)


def client_needs(**versions: str) -> Callable[[F], F]:
    """The APIs that the client has to share with the broker: ``client_needs(Produce="3+")``."""
    parsed = {api_named(name).name: VersionRange.parse(text) for name, text in versions.items()}
    return pytest.mark.client_needs(parsed)


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

"""Fixtures for other projects: a broker and a target, in their own pytest runs.

One line in the top conftest.py switches them on, ``pytest_plugins = ("harness.fixtures",)``.
Without it this package has no effect on a pytest run. See docs/fixtures.md.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.base.extras import explained
from harness.base.own_names import case_prefix, new_nonce
from harness.client.broker import BrokerUnderTest
from harness.runner.granted import grants_of
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.fault import Fault
from harness.targets.first_broker import first_broker
from harness.targets.info import TargetInfo, probe
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.spec import parse_target
from harness.targets.target import Target

__all__ = [
    "TARGET_VARIABLE",
    "Address",
    "BrokerUnderTest",
    "Fault",
    "MissingCapability",
    "ProxiedTarget",
    "Target",
    "TargetError",
    "TargetInfo",
    "kafka_conformance_bootstrap",
    "kafka_conformance_broker",
    "kafka_conformance_info",
    "kafka_conformance_proxied",
    "kafka_conformance_spec",
    "kafka_conformance_target",
    "kafka_conformance_tls_proxied",
    "proxied",
]

TARGET_VARIABLE = "KAFKA_CONFORMANCE_TARGET"
"""Environment variable: the target string when a project does not choose one."""


@pytest.fixture(scope="session")
def kafka_conformance_spec() -> str:
    """The target, as a string that `kafka-conformance run --target` takes.

    Override it in a conftest.py to choose one, or parametrize the override to test with several.
    Default: the environment variable KAFKA_CONFORMANCE_TARGET, else the built-in broker.
    """
    return os.environ.get(TARGET_VARIABLE) or "reference"


@pytest.fixture(scope="session")
def kafka_conformance_target(
    kafka_conformance_spec: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """The target, started once a session (and once in each xdist worker) and stopped at its end.

    It has addresses, capabilities and the log, and starts private brokers with settings of their
    own. If it cannot be started, the test has an error with the reason and the remedy.
    """
    log_dir = tmp_path_factory.mktemp("kafka-conformance")
    with contextlib.ExitStack() as started:
        try:
            target = started.enter_context(parse_target(kafka_conformance_spec, log_dir=log_dir))
        except (TargetError, ModuleNotFoundError) as error:
            pytest.fail(_reason(error), pytrace=False)
        yield target


def _reason(error: TargetError | ModuleNotFoundError) -> str:
    """The text; of a missing package the extra that has it. Raises any other missing module."""
    if isinstance(error, TargetError):
        return str(error)
    missing = explained(error)
    if missing is None:
        raise error
    return f"the target cannot be started: {missing}"


@pytest.fixture(scope="session")
def kafka_conformance_info(kafka_conformance_target: Target) -> TargetInfo:
    """The target's advertised API versions, pace and release, queried once."""
    try:
        return probe(kafka_conformance_target)
    except TargetError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def kafka_conformance_bootstrap(kafka_conformance_target: Target) -> str:
    """``HOST:PORT[,HOST:PORT]``, as clients take it in ``bootstrap.servers``."""
    return ",".join(str(address) for address in kafka_conformance_target.addresses)


@pytest.fixture
def kafka_conformance_broker(
    request: pytest.FixtureRequest, kafka_conformance_info: TargetInfo
) -> Iterator[BrokerUnderTest]:
    """The target's broker as a test sees it: raw connections at exact versions, topics of its own.

    Topics that are made through it have unique names and are deleted after the test, and its
    connections are closed.
    """
    address, node = first_broker(
        kafka_conformance_info.addresses, kafka_conformance_info.api_versions
    )
    client = BrokerUnderTest(
        [address],
        kafka_conformance_info.api_versions,
        time_scale=kafka_conformance_info.time_scale,
        grants=grants_of(kafka_conformance_info),
        name_prefix=case_prefix(
            kafka_conformance_info.name_prefix, new_nonce(), request.node.nodeid
        ),
        node=node,
    )
    try:
        yield client
    finally:
        client.close()


@pytest.fixture
def kafka_conformance_proxied(
    request: pytest.FixtureRequest, kafka_conformance_target: Target
) -> Iterator[ProxiedTarget]:
    """The target behind this test's own proxies: ``behind.bootstrap`` for clients.

    A fault is one line, ``behind.drop_answers("Produce", first=1)``; ``behind.heal()`` removes all
    of them, and ``behind.expect_fired()`` fails a test with faults that did nothing. Random draws
    derive from the test's id. A client that connects to the target itself meets no fault.
    """
    with _behind(request, kafka_conformance_target) as behind:
        yield behind


@pytest.fixture
def kafka_conformance_tls_proxied(
    request: pytest.FixtureRequest, kafka_conformance_target: Target, tmp_path: Path
) -> Iterator[ProxiedTarget]:
    """As ``kafka_conformance_proxied``, and clients keep their TLS and SASL.

    TLS ends at the proxies: clients trust the file ``behind.authority``. The target needs TLS.
    """
    with _behind(request, kafka_conformance_target, tmp_path / "authority.pem") as behind:
        yield behind


@contextlib.contextmanager
def _behind(
    request: pytest.FixtureRequest, target: Target, ends_tls: Path | None = None
) -> Iterator[ProxiedTarget]:
    seed = zlib.crc32(request.node.nodeid.encode())
    with contextlib.ExitStack() as running:
        try:
            behind = running.enter_context(proxied(target, seed=seed, ends_tls=ends_tls))
        except TargetError as error:
            pytest.fail(str(error), pytrace=False)
        yield behind

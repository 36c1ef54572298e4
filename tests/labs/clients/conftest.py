"""The broker, the clients that are there, and names of our own on it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.client.broker import BrokerUnderTest
from harness.targets.asking import ask_api_versions
from harness.targets.errors import TargetError
from harness.targets.java import JavaError
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.clients.clients import CLIENTS
from labs.clients.here import Here
from labs.official_classes.maven import MavenError
from tests.targets.kinds import not_run

ASK_MS = 10_000


@pytest.fixture(scope="session")
def target(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """``--target``, by default the built-in broker."""
    spec = pytestconfig.getoption("target")
    with parse_target(spec, log_dir=tmp_path_factory.mktemp("logs")) as started:
        yield started


@pytest.fixture(scope="session")
def broker(target: Target) -> Iterator[BrokerUnderTest]:
    """The broker as our own client sees it: what is really stored."""
    versions = ask_api_versions(target.addresses[0], ASK_MS)
    under_test = BrokerUnderTest(target.addresses, versions)
    yield under_test
    under_test.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the clients' logs."""
    return tmp_path_factory.mktemp("clients")


@pytest.fixture(scope="session")
def client(request: pytest.FixtureRequest, broker: BrokerUnderTest, folder: Path) -> Iterator[Here]:
    """One after the other: tests are ordered by this parameter, so each is started once."""
    with ExitStack() as stack:
        try:
            here = Here(CLIENTS[request.param], broker, folder, stack)
        except (TargetError, JavaError, MavenError) as problem:
            not_run(f"{request.param}: {problem}")
        yield here


@pytest.fixture
def name() -> str:
    """The unique name of a topic or a group."""
    return f"clients-{uuid.uuid4().hex[:12]}"

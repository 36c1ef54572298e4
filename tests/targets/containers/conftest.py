"""A daemon for the tests of this folder, and the two images made there."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from harness.targets.containers.build import build_image
from harness.targets.containers.context import recipe_for
from harness.targets.containers.daemon import connect, daemon_address
from harness.targets.errors import TargetError
from tests.targets import kinds
from tests.targets.containers import kinds_of_image
from tests.targets.containers.own_daemon import Daemon, inside, own_daemon, why_not


@pytest.fixture(scope="session")
def daemon() -> Iterator[Daemon]:
    """The daemon of this machine where one answers, else one of our own."""
    if importlib.util.find_spec("docker.client") is None:
        kinds.not_run("the docker SDK is not installed")
    try:
        connect().close()
    except TargetError:
        reason = why_not()
        if reason:
            kinds.not_run(reason)
        with own_daemon() as own:
            yield own
    else:
        yield Daemon(daemon_address(), None)


@pytest.fixture(scope="session")
def images(daemon: Daemon) -> Iterator[None]:
    """Both images, built without a registry, removed at the end."""
    kinds.need_kafka()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", daemon.address)
        client = connect()
        try:
            for tag, what in kinds_of_image.IMAGES.items():
                build_image(client, recipe_for(what), tag)
            yield
        finally:
            for tag in kinds_of_image.IMAGES:
                client.images.remove(tag, force=True)
            client.close()


@pytest.fixture
def at_daemon(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """The test speaks with the daemon, within its network."""
    monkeypatch.setenv("DOCKER_HOST", daemon.address)
    with inside(daemon.network):
        yield daemon


@pytest.fixture
def at_images(images: None, at_daemon: Daemon) -> Daemon:
    """The same, with the two images."""
    return at_daemon

"""A daemon for the tests of this folder, and the images made there."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from harness.targets.containers.build import build_image
from harness.targets.containers.context import recipe_for
from harness.targets.containers.daemon import connect, daemon_address
from harness.targets.errors import TargetError
from tests.targets import kinds
from tests.targets.containers import images
from tests.targets.containers.own_daemon import Daemon, inside, own_daemon, why_not


@pytest.fixture(scope="session")
def daemon() -> Iterator[Daemon]:
    """The daemon of this machine if one answers, else a private one."""
    try:
        connect().close()
    except TargetError as problem:
        reason = why_not()
        if reason:
            kinds.not_run(f"{problem}; {reason}")
        with own_daemon() as own:
            yield own
    else:
        yield Daemon(daemon_address(), None)


@pytest.fixture(scope="session")
def built(daemon: Daemon) -> Iterator[None]:
    """The images, built without a registry, removed at the end."""
    kinds.need_kafka()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", daemon.address)
        client = connect()
        try:
            for tag, what in images.BUILT.items():
                build_image(client, recipe_for(what), tag)
            client.images.build(fileobj=io.BytesIO(images.PLAIN_DOCKERFILE), tag=images.PLAIN)
            yield
        finally:
            for tag in (images.PLAIN, *images.BUILT):
                if client.images.list(tag):
                    client.images.remove(tag, force=True)
            client.close()


@pytest.fixture(scope="class")
def at_daemon(daemon: Daemon) -> Iterator[Daemon]:
    """Let the test call the daemon, within its network."""
    with pytest.MonkeyPatch.context() as patch, inside(daemon.network):
        patch.setenv("DOCKER_HOST", daemon.address)
        yield daemon


@pytest.fixture(scope="class")
def at_images(built: None, at_daemon: Daemon) -> Daemon:
    """The same, with the images."""
    return at_daemon

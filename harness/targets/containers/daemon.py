"""Access to the Docker daemon: the only module that imports the SDK, and its errors in words."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.base.extras import install_line
from harness.targets.errors import TargetError

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

DAEMON_SETTING = "DOCKER_HOST"
DEFAULT_DAEMON = "unix:///var/run/docker.sock"
INSTALL = install_line("docker")
BUILD = "python -m harness.targets.containers.build"
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def daemon_address() -> str:
    """Return the address of the daemon: DOCKER_HOST, or the default."""
    return os.environ.get(DAEMON_SETTING) or DEFAULT_DAEMON


def connect() -> DockerClient:
    """A client of the daemon, which was asked once whether it answers.

    Raises TargetError: the SDK is not installed, no daemon, none that we may use, one elsewhere.
    """
    address = daemon_address()
    parts = urlsplit(address)
    if parts.scheme in ("tcp", "ssh", "http", "https") and parts.hostname not in _LOCAL_HOSTS:
        raise TargetError(
            f"the Docker daemon at {address} is on another machine, whose ports of 127.0.0.1 "
            f"cannot be reached from here: set {DAEMON_SETTING} to a daemon of this machine, or "
            "judge a broker that runs there as external:HOST:PORT"
        )
    try:
        # By name: without the SDK a folder "docker" in the working directory is a module too.
        from docker import from_env
    except ImportError as problem:
        raise TargetError(f"the docker SDK is not installed: {INSTALL}") from problem
    if parts.scheme == "unix":
        _knock(parts.path)
    with asked():
        return _checked(from_env())


def _knock(path: str) -> None:
    """Connect once without the SDK, which leaves a socket open if no daemon listens.

    Raises TargetError: the daemon is unreachable.
    """
    with socket.socket(socket.AF_UNIX) as knocking:
        try:
            knocking.connect(path)
        except OSError as problem:
            raise TargetError(_unreachable(problem)) from problem


def _checked(client: DockerClient) -> DockerClient:
    try:
        client.ping()
    except BaseException:
        client.close()
        raise
    return client


@contextmanager
def asked(what: str = "") -> Iterator[None]:
    """Every way in which the daemon may fail becomes TargetError; ``what`` it was asked to do."""
    from docker.errors import APIError, DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except APIError as problem:
        doing = f" to {what}" if what else ""
        raise TargetError(f"the Docker daemon refuses{doing}: {said(problem)}") from problem
    except (DockerException, RequestException) as problem:
        raise TargetError(_unreachable(problem)) from problem


def said(problem: Exception) -> str:
    """Return the daemon's explanation of a refusal, in one line."""
    text = str(getattr(problem, "explanation", None) or problem)
    return " ".join(text.split())


def _unreachable(problem: Exception) -> str:
    address = daemon_address()
    cause = _system_error(problem, set())
    if isinstance(cause, PermissionError):
        return (
            f"the Docker daemon at {address} does not let this user in ({cause.strerror}): run as "
            "one who may (the group docker, as a rule)"
        )
    reason = cause.strerror if cause else str(problem)
    return (
        f"no Docker daemon answers at {address} ({reason}): start one, or set {DAEMON_SETTING} to "
        "where one listens"
    )


def _system_error(problem: object, seen: set[int]) -> OSError | None:
    """The error of the system at the bottom; libraries wrap it in several ways."""
    if not isinstance(problem, BaseException) or id(problem) in seen:
        return None
    seen.add(id(problem))
    if isinstance(problem, OSError) and isinstance(problem.errno, int):
        return problem
    inside = (*problem.args, getattr(problem, "reason", None), problem.__cause__)
    for each in (*inside, problem.__context__):
        found = _system_error(each, seen)
        if found:
            return found
    return None


def find_image(client: DockerClient, name: str) -> Image:
    """The image, pulled when it is not there. Raises TargetError: it is not to be had."""
    from docker.errors import DockerException, ImageNotFound

    with asked(f"look for the image {name}"):
        try:
            return client.images.get(name)
        except ImageNotFound:
            pass
    try:
        return client.images.pull(name)
    except DockerException as problem:
        raise TargetError(
            f"there is no image {name} in the Docker daemon, and it cannot be pulled "
            f"({said(problem)}): correct the name, or build it, as {BUILD} does for a Kafka "
            "release and the reference broker"
        ) from problem

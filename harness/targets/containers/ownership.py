"""The owner of a container, named by its labels, and the removal of those without an owner.

A container belongs to a process of one machine (and of one pid namespace: several may share a
daemon). When that process has ended, the container has no purpose.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.targets.containers.image_contract import LABEL

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

RUN = LABEL + "run"
OWNER_PID = LABEL + "owner-pid"
OWNER_STARTED = LABEL + "owner-started"
OWNER_PLACE = LABEL + "owner-place"
STARTED_TOLERANCE_S = 1.0
_Filters = dict[str, str | list[str] | bool]


def owner_place() -> str:
    """Within what the owner's pid means something."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it is no path
    except OSError:
        namespace = "pid"
    return f"{platform.node()} {namespace}"


def owner_labels(run: str) -> dict[str, str]:
    """The labels of all that this process makes under the id ``run``."""
    import psutil

    return {
        RUN: run,
        OWNER_PID: str(os.getpid()),
        OWNER_STARTED: repr(psutil.Process().create_time()),
        OWNER_PLACE: owner_place(),
    }


def is_orphan(labels: Mapping[str, str]) -> bool:
    """True if the owner that these labels name has certainly ended."""
    if labels.get(OWNER_PLACE) != owner_place():
        return False
    import psutil

    try:
        owner = psutil.Process(int(labels[OWNER_PID]))
        started = float(labels[OWNER_STARTED])
        return abs(owner.create_time() - started) > STARTED_TOLERANCE_S
    except psutil.NoSuchProcess:
        return True
    except (KeyError, ValueError, psutil.Error):
        return False


def containers_of(client: DockerClient, run: str) -> list[Container]:
    """Those with the label of this run, in any state."""
    filters: _Filters = {"label": f"{RUN}={run}"}
    return list(client.containers.list(all=True, filters=filters, ignore_removed=True))


def remove_run(client: DockerClient, run: str) -> None:
    """Remove what was made under this id. Raises what the SDK raises."""
    for container in containers_of(client, run):
        remove(container)


def remove_orphans(client: DockerClient) -> None:
    """Remove our containers if their owner has ended. Raises the errors of the SDK."""
    filters: _Filters = {"label": RUN}
    for container in client.containers.list(all=True, filters=filters, ignore_removed=True):
        if is_orphan(container.labels):
            remove(container)


def remove(container: Container) -> None:
    """End and remove a container with its anonymous volumes; already gone is fine."""
    from docker.errors import APIError

    try:
        container.remove(force=True, v=True)
    except APIError as problem:
        # 404: gone; 409: another process is removing it at this moment.
        if problem.status_code not in (404, 409):
            raise

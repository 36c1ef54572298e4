"""Ownership of containers, and detection of orphans."""

import os
import subprocess
import sys

import psutil
import pytest

from harness.targets.containers.daemon import connect
from harness.targets.containers.ownership import (
    OWNER_PID,
    OWNER_PLACE,
    OWNER_STARTED,
    RUN,
    is_orphan,
    owner_labels,
    remove,
    remove_orphans,
)
from tests.targets.containers import images
from tests.targets.containers.own_daemon import Daemon


@pytest.fixture
def ended_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_container_of_running_owner_is_no_orphan() -> None:
    labels = owner_labels("r")
    assert labels[RUN] == "r"
    assert labels[OWNER_PID] == str(os.getpid())
    assert not is_orphan(labels)


def test_container_of_ended_owner_is_orphan(ended_pid: int) -> None:
    assert is_orphan({**owner_labels("r"), OWNER_PID: str(ended_pid)})


def test_container_with_reused_owner_pid_is_orphan() -> None:
    before = psutil.Process().create_time() - 100
    assert is_orphan({**owner_labels("r"), OWNER_STARTED: repr(before)})


@pytest.mark.parametrize(
    "changes",
    [
        {OWNER_PLACE: "another machine pid:[1]"},  # where a pid means something else
        {OWNER_PID: "x"},
        {OWNER_STARTED: "x"},
    ],
)
def test_container_with_unclear_owner_is_no_orphan(ended_pid: int, changes: dict[str, str]) -> None:
    labels = {**owner_labels("r"), OWNER_PID: str(ended_pid), **changes}
    if OWNER_STARTED in changes:
        labels[OWNER_PID] = str(os.getpid())
    assert not is_orphan(labels)
    del labels[OWNER_PLACE]
    assert not is_orphan(labels)


def test_remove_orphans_removes_only_orphans(at_images: Daemon, ended_pid: int) -> None:
    client = connect()
    orphaned = {**owner_labels("a"), OWNER_PID: str(ended_pid)}
    foreign = {**orphaned, OWNER_PLACE: "elsewhere"}
    wait = ["python3", "-c", "import time; time.sleep(600)"]
    made = [
        client.containers.run(images.PLAIN, wait, labels=labels, detach=True, network_mode="none")
        for labels in (orphaned, owner_labels("b"), foreign, {})
    ]
    try:
        made[0].pause()  # the most stubborn state
        remove_orphans(client)
        left = {each.id for each in client.containers.list(all=True)}
        assert made[0].id not in left
        assert {each.id for each in made[1:]} <= left
        remove(made[0])  # gone already: fine
    finally:
        for each in made[1:]:
            remove(each)
        client.close()

"""The guard alone: at every end in good order it removes the containers of its run first."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.targets.containers.daemon import connect
from harness.targets.containers.guard import READY
from harness.targets.containers.guarding import COMMAND
from harness.targets.containers.ownership import containers_of, owner_labels, remove_run
from tests.targets.containers import images

pytestmark = pytest.mark.usefixtures("at_images")
END_TIMEOUT_S = 60


@pytest.fixture
def run() -> Iterator[str]:
    """A run with one container that does not end by itself."""
    run = uuid.uuid4().hex
    client = connect()
    wait = ["python3", "-c", "import time; time.sleep(600)"]
    labels = owner_labels(run)
    client.containers.run(images.PLAIN, wait, labels=labels, detach=True, network_mode="none")
    try:
        yield run
    finally:
        remove_run(client, run)
        client.close()


def left(run: str) -> int:
    client = connect()
    try:
        return len(containers_of(client, run))
    finally:
        client.close()


@pytest.mark.parametrize("how", ["before it was ready", "by a signal", "by end of file"])
def test_guard_removes_containers_at_every_orderly_end(run: str, tmp_path: Path, how: str) -> None:
    log = tmp_path / "guard.log"
    with subprocess.Popen(
        [*COMMAND, run, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as guard:
        assert guard.stdin is not None
        assert guard.stdout is not None
        if how == "before it was ready":
            guard.stdout.close()
        else:
            assert guard.stdout.readline() == READY
            assert left(run) == 1
        if how == "by a signal":
            guard.terminate()
        else:
            guard.stdin.close()
        assert guard.wait(END_TIMEOUT_S) == 0
    assert left(run) == 0

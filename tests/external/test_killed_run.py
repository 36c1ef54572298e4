"""A run killed in the middle leaves things behind; after a cleanup the cluster is as before."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from harness.base.own_names import DEFAULT_PREFIX, age_s
from harness.cli import main
from harness.sweep.snapshot import differences
from labs.awaiting import await_that
from tests.external.conftest import Cluster


def _ours(cluster: Cluster) -> list[str]:
    names = [topic.name or "" for topic in cluster.client.metadata(None).topics]
    return [name for name in names if age_s(name, DEFAULT_PREFIX, time.time()) is not None]


def _kill_in_the_middle(cluster: Cluster, run: subprocess.Popen[bytes]) -> None:
    """With SIGKILL, the command and all its children, while topics of ours are there.

    All are frozen first, so that none can delete its topics between the look and the end.
    """

    def frozen_with_topics() -> bool:
        assert run.poll() is None, "the run has ended before it was killed"
        family = [psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)]
        for process in family:
            process.suspend()
        if len(family) > 1 and _ours(cluster):
            for process in family:
                process.send_signal(signal.SIGKILL)
            psutil.wait_procs(family)
            return True
        for process in reversed(family):
            process.resume()
        return False

    await_that(frozen_with_topics, "the run makes no topic")


@pytest.mark.rotates(8)
def test_cleanup_after_killed_run_restores_cluster(cluster: Cluster, out: Path) -> None:
    before = cluster.describe()
    command = [sys.executable, "-m", "harness.cli", "run", "--target", cluster.spec]
    command += ["--out", str(out), "--requirement", "META-*"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _kill_in_the_middle(cluster, run)
    finally:
        run.kill()
        run.wait()
    left = _ours(cluster)
    assert left
    assert [line for line in differences(before, cluster.describe()) if left[0] in line]
    ended = CliRunner().invoke(main, ["cleanup", "--target", cluster.spec])
    assert ended.exit_code == 0, ended.output
    for name in left:
        assert f"removed  topic  {name}\n" in ended.output
    assert cluster.changes_since(before) == []
    again = CliRunner().invoke(main, ["cleanup", "--target", cluster.spec])
    assert (again.exit_code, again.output) == (0, "Nothing of ours is there.\n")

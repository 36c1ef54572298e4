"""The report on a standalone master with two workers is the report of local[*]."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from reports.build import build_report

from .conftest import WORDING, DrawnReport

pytestmark = [pytest.mark.slow, pytest.mark.deep]

START_TIMEOUT_S = 90


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def spark_daemon(log: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Spark process from the pyspark package; it has ended when this is left."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def awaited(
    condition: Callable[[dict[str, Any]], bool],
    web_port: int,
    processes: list[subprocess.Popen[bytes]],
) -> dict[str, Any]:
    """The master's own account of itself, as soon as `condition` holds of it."""
    deadline = time.monotonic() + START_TIMEOUT_S
    state: dict[str, Any] = {}
    while time.monotonic() < deadline:
        assert all(process.poll() is None for process in processes), "a Spark daemon ended"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{web_port}/json/", timeout=5) as answer:
                state = json.load(answer)
        except (OSError, ValueError):  # at first its pages are there, and no JSON
            state = {}
        if state and condition(state):
            return state
        time.sleep(0.2)  # between two questions to the master
    raise AssertionError(f"the master never said what was awaited; last: {state}")


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[tuple[str, int]]:
    """A master with two workers on loopback; gives (master address, port of its state)."""
    port, web_port = free_port(), free_port()
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    at = ["--host", "127.0.0.1"]
    with ExitStack() as stack:
        command = [f"{deploy}.master.Master", *at, "--port", str(port)]
        command += ["--webui-port", str(web_port)]
        processes = [stack.enter_context(spark_daemon(folder / "master.log", *command))]
        awaited(lambda state: state["status"] == "ALIVE", web_port, processes)
        for number in (1, 2):
            command = [f"{deploy}.worker.Worker", *at, "--port", "0", "--webui-port", "0"]
            command += ["--cores", "1", "--memory", "1g"]
            command += ["--work-dir", str(folder / f"work-{number}"), master]
            log = folder / f"worker-{number}.log"
            processes.append(stack.enter_context(spark_daemon(log, *command)))
        awaited(lambda state: state["aliveworkers"] == 2, web_port, processes)
        yield master, web_port


def test_standalone_spark_cluster_gives_identical_report(
    drawn_report: DrawnReport, without_spark: None, tmp_path: Path
) -> None:
    with standalone_cluster(tmp_path) as (master, web_port):
        there = build_report([drawn_report.results], tmp_path / "report", master, wording=WORDING)
        with urllib.request.urlopen(f"http://127.0.0.1:{web_port}/json/", timeout=5) as answer:
            state = json.load(answer)
    (application,) = state["completedapps"] + state["activeapps"]
    assert application["name"] == "kafka-conformance report"
    # Each worker ran an executor of it, so the work really was on the cluster.
    assert all(list((tmp_path / f"work-{number}").glob("app-*/*")) for number in (1, 2))
    here = drawn_report.paths
    for name in ("matrix.json", "matrix.md", "junit.xml", "index.html"):
        assert (here.folder / name).read_bytes() == (there.folder / name).read_bytes()

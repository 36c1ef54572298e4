"""Formatted log directories: made once by a tool, copied from then on. The tool here is a script;
:mod:`tests.targets.test_formatted_kafka` compares with Kafka's own."""

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from harness.base.address import Address
from harness.codec.data_framing import read_meta_properties
from harness.targets.errors import TargetStartError
from harness.targets.kafka.broker_config import NodeConfig, new_cluster_id
from harness.targets.kafka.eras import Mode
from harness.targets.kafka.formatted import FRESH_S, META, archive_path, format_node
from harness.targets.kafka.jvm import Jvm
from harness.targets.kafka.plan import KafkaPlan
from labs.awaiting import await_that

TOOL = """
import os, pathlib, sys, time
runs = pathlib.Path(sys.argv[1])
with runs.open("a") as file:
    file.write("run\\n")
while (runs.parent / "hold").exists():
    time.sleep(0.01)
text = pathlib.Path(sys.argv[-1]).read_text()
read = dict(line.split("=", 1) for line in text.splitlines())
if "refused" in read.get("unstable.setting", ""):
    sys.exit("the tool refuses this")
for folder in map(pathlib.Path, read["log.dirs"].split(",")):
    folder.mkdir(parents=True)
    (folder / "inside").mkdir()
    (folder / "inside" / "checkpoint").write_bytes(b"of " + read["process.roles"].encode())
    ids = f"node.id={read['node.id']}\\ndirectory.id=x\\nversion=1\\ncluster.id=y\\n"
    (folder / "meta.properties").write_text("#\\n#Thu Nov 26\\n" + ids)
"""

ONE_MORE = """
import sys
from pathlib import Path
from tests.targets.test_formatted import node, tool
from harness.targets.kafka.formatted import format_node
folder = Path(sys.argv[1])
format_node(node(folder / sys.argv[2]), "c" * 22, tool(folder), folder / "log")
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))


def tool(folder: Path) -> Jvm:
    """A tool that notes its runs in ``folder/runs``, and waits while ``folder/hold`` exists."""

    def words(_folder: Path, _flags: object, _main: str, *arguments: str) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", TOOL, str(folder / "runs"), *arguments]

    return cast("Jvm", SimpleNamespace(words=words, environment=dict(os.environ)))


def node(
    folder: Path, settings: Mapping[str, str] | None = None, brokers: int = 1, at: int = 0
) -> NodeConfig:
    plan = KafkaPlan("4.4.0", Mode.KRAFT, brokers, settings or {})
    addresses = [Address("127.0.0.1", 9000 + port) for port in range(plan.ports)]
    planned = plan.nodes(folder, addresses)
    return (*planned.brokers, *planned.controllers)[at]


def formatted(folder: Path, config: NodeConfig) -> list[dict[str, str]]:
    """The properties of each log directory."""
    format_node(config, new_cluster_id(), tool(folder), folder / "log")
    directories = config.log_directories
    return [read_meta_properties((each / META).read_bytes()).values for each in directories]


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


def has_run(folder: Path) -> bool:
    """True if the tool has noted a run: its file is there a moment before that."""
    return (folder / "runs").exists() and runs(folder) > 0


def test_format_tool_runs_once_per_kind_of_node(tmp_path: Path) -> None:
    nodes = [node(tmp_path / name, brokers=3, at=at) for name in "ab" for at in range(4)]
    found = [formatted(tmp_path, each) for each in nodes]
    assert runs(tmp_path) == 2, "of brokers, and of controllers"
    assert [one["node.id"] for (one,) in found] == ["1", "2", "3", "100"] * 2
    assert len({one["directory.id"] for (one,) in found}) == 8
    assert len({one["cluster.id"] for (one,) in found}) == 8
    roles = [(each.log_dir / "inside" / "checkpoint").read_bytes() for each in nodes]
    assert roles == [b"of broker", b"of broker", b"of broker", b"of controller"] * 2


def test_each_log_directory_has_unique_id(tmp_path: Path) -> None:
    found = formatted(tmp_path, node(tmp_path, {"log.dirs": "a, b", "num.io.threads": "1"}))
    assert found[0]["directory.id"] != found[1]["directory.id"]
    assert found[0]["cluster.id"] == found[1]["cluster.id"]
    formatted(tmp_path, node(tmp_path / "other", {"log.dirs": f"{tmp_path / 'c'},d"}))
    assert runs(tmp_path) == 1, "places and other settings do not matter"


def test_archive_path_depends_on_metadata_log_directory(tmp_path: Path) -> None:
    alone = tmp_path / "metadata"
    formatted(tmp_path, node(tmp_path, {"log.dirs": "a", "metadata.log.dir": str(alone)}))
    one_of = {"log.dirs": "a,b", "metadata.log.dir": str(tmp_path / "two" / "node-1" / "b")}
    last = {"log.dirs": "a,b", "metadata.log.dir": str(tmp_path / "three" / "node-1" / "a")}
    paths = {archive_path(node(tmp_path / "two", one_of))}
    paths.add(archive_path(node(tmp_path / "three", last)))
    paths.add(archive_path(node(tmp_path, {"log.dirs": "a,b"})))
    assert len(paths) == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"inter.broker.protocol.version": "3.5"},
        {"unstable.feature.versions.enable": "true"},
        {"process.roles": "controller"},
        {"log.dirs": "a,b"},
    ],
)
def test_archive_path_depends_on_settings_of_format_tool(
    settings: dict[str, str], tmp_path: Path
) -> None:
    assert archive_path(node(tmp_path, settings)) != archive_path(node(tmp_path))


def test_archive_path_does_not_depend_on_voters_of_the_settings(tmp_path: Path) -> None:
    """Their ids and addresses are another cluster's; the tool would refuse a node that is none."""
    voters = {"controller.quorum.voters": "100@127.0.0.1:9999"}
    assert archive_path(node(tmp_path, voters, 3, 3)) == archive_path(node(tmp_path, None, 3, 3))


def test_formatted_directories_are_not_formatted_again(tmp_path: Path) -> None:
    config = node(tmp_path, {"log.dirs": "a,b"})
    before = formatted(tmp_path, config)
    assert formatted(tmp_path, config) == before
    (config.log_directories[0] / META).unlink()
    format_node(config, new_cluster_id(), tool(tmp_path), tmp_path / "log")
    assert not (config.log_directories[0] / META).exists(), "the other belongs to a cluster"


def test_archive_with_old_or_future_time_is_made_again(tmp_path: Path) -> None:
    formatted(tmp_path, node(tmp_path / "1"))
    path = archive_path(node(tmp_path))
    for age_s in (FRESH_S + 60, -FRESH_S - 60):
        os.utime(path, (time.time() - age_s,) * 2)
        formatted(tmp_path, node(tmp_path / f"after {age_s}"))
        formatted(tmp_path, node(tmp_path / f"again {age_s}"))
    assert runs(tmp_path) == 3


def test_damaged_archive_is_made_again(tmp_path: Path) -> None:
    whole = formatted(tmp_path, node(tmp_path / "1"))
    path = archive_path(node(tmp_path))
    data = path.read_bytes()
    place = data.index(b"version=1")
    for broken in (b"", b"x", data[:-8], data[:place] + b"V" + data[place + 1 :]):
        path.write_bytes(broken)
        (found,) = formatted(tmp_path, node(tmp_path / f"after {len(broken)}"))
        assert found.keys() == whole[0].keys()
    assert runs(tmp_path) == 5


def test_failing_format_tool_raises_target_start_error(tmp_path: Path) -> None:
    config = node(tmp_path, {"unstable.setting": "refused"})
    with pytest.raises(TargetStartError, match=r"(?s)status 1;.*the tool refuses this") as caught:
        formatted(tmp_path, config)
    assert str(tmp_path / "log") in str(caught.value)
    assert not archive_path(config).exists()


def test_unwritable_folder_raises_target_start_error(tmp_path: Path) -> None:
    (tmp_path / "node-1").write_text("a file")
    with pytest.raises(TargetStartError, match="log directories cannot be formatted"):
        formatted(tmp_path, node(tmp_path))


def one_more(folder: Path, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", ONE_MORE, str(folder), name])


def has_open(path: str, pid: int) -> bool:
    return any(each.path == path for each in psutil.Process(pid).open_files())


def test_one_process_makes_archive_while_others_wait(tmp_path: Path) -> None:
    (tmp_path / "hold").touch()
    processes = [one_more(tmp_path, name) for name in "abcd"]
    lock = f"{archive_path(node(tmp_path))}.lock"
    await_that(lambda: all(has_open(lock, each.pid) for each in processes), "all are at the lock")
    await_that(partial(has_run, tmp_path), "the tool runs")
    (tmp_path / "hold").unlink()
    assert [each.wait(60) for each in processes] == [0] * 4
    assert runs(tmp_path) == 1
    assert len(list(tmp_path.glob(f"?/node-1/log/{META}"))) == 4


def test_archive_is_made_after_first_process_was_killed(tmp_path: Path) -> None:
    (tmp_path / "hold").touch()
    first = one_more(tmp_path, "a")
    await_that(partial(has_run, tmp_path), "the tool runs")
    members = psutil.Process(first.pid).children(recursive=True)
    first.send_signal(signal.SIGKILL)
    first.wait()
    _, alive = psutil.wait_procs(members, timeout=60)
    assert not alive
    (tmp_path / "hold").unlink()
    formatted(tmp_path, node(tmp_path / "b"))
    assert runs(tmp_path) == 2
    with zipfile.ZipFile(archive_path(node(tmp_path))) as archive:
        assert archive.testzip() is None

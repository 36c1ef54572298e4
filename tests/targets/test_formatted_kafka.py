"""Copies of formatted log directories beside what StorageTool writes for the same node itself."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.codec.data_framing import read_meta_properties
from harness.targets.artifacts import fetch_release
from harness.targets.kafka.broker_config import NodeConfig, new_cluster_id, server_properties
from harness.targets.kafka.eras import Mode
from harness.targets.kafka.formatted import META, TOOL, archive_path, format_node
from harness.targets.kafka.jvm import HEAP, Jvm, java_for
from harness.targets.kafka.logging_config import write_logging
from harness.targets.kafka.plan import KafkaPlan
from harness.targets.kafka.target import KafkaTarget
from harness.targets.ports import free_ports
from tests.targets import kinds
from tests.targets.round_trip import round_trip

pytestmark = pytest.mark.kafka

SINGLE = (1, 0)
BROKER, CONTROLLER = (3, 1), (3, 3)
TWO_DIRECTORIES = {"log.dirs": "log,other"}
CASES = [
    ("2.8.2", SINGLE, {}),
    ("3.0.2", BROKER, {}),
    ("3.3.2", SINGLE, {}),
    ("3.3.2", CONTROLLER, {}),
    ("3.6.2", SINGLE, {"inter.broker.protocol.version": "3.5", "num.io.threads": "2"}),
    ("3.6.2", BROKER, {}),
    ("3.7.2", SINGLE, TWO_DIRECTORIES),
    ("3.8.1", SINGLE, {"unstable.feature.versions.enable": "true"}),
    ("3.9.2", SINGLE, TWO_DIRECTORIES),
    ("3.9.2", CONTROLLER, {}),
    ("4.0.2", SINGLE, {}),
    ("4.0.2", BROKER, TWO_DIRECTORIES),
    ("4.4.0", SINGLE, TWO_DIRECTORIES | {"metadata.log.dir": "{folder}/node-1/other"}),
    ("4.4.0", SINGLE, {"metadata.log.dir": "{folder}/metadata"}),
    ("4.4.0", SINGLE, {"unstable.feature.versions.enable": "true"}),
    ("4.4.0", BROKER, {}),
    ("4.4.0", CONTROLLER, TWO_DIRECTORIES),
]
"""Release, how many brokers and which of the nodes, settings."""


def node(release: str, folder: Path, which: tuple[int, int], given: dict[str, str]) -> NodeConfig:
    settings = {name: value.format(folder=folder) for name, value in given.items()}
    plan = KafkaPlan(release, Mode.KRAFT, which[0], settings)
    nodes = plan.nodes(folder, [Address("127.0.0.1", port) for port in free_ports(plan.ports)])
    return (*nodes.brokers, *nodes.controllers)[which[1]]


def format_by_tool(config: NodeConfig, cluster_id: str, jvm: Jvm) -> None:
    """Format as an operator does it, with all properties of the node."""
    folder = config.log_dir.parent
    folder.mkdir(parents=True)
    properties = folder / "server.properties"
    properties.write_text(server_properties(config))
    flags = write_logging(folder, config.release)
    words = jvm.words(folder, flags, TOOL, "format", "-t", cluster_id, "-c", str(properties))
    subprocess.run(words, env=dict(jvm.environment), check=True, capture_output=True)


def written(folder: Path) -> dict[str, object]:
    """The content of all log directories below it, without the time of their creation."""
    return {
        str(path.relative_to(folder)): content(path)
        for path in folder.rglob("*")
        if path.name not in ("server.properties", "log4j.properties", "log4j2.properties")
    }


def content(path: Path) -> object:
    if path.is_dir():
        return "a folder"
    data = path.read_bytes()
    if path.name == META:
        values = read_meta_properties(data).values
        random = values.pop("directory.id", None)
        return list(values.items()), random and len(random)
    return list(batches(data))


def batches(data: bytes) -> Iterator[tuple[bytes, ...]]:
    """Each record batch without its checksum and times; the first has one in its record too."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from(">i", data, at + 8)
        batch = data[at : at + 12 + length]
        records = (batch[43:73], batch[81:]) if at == 0 else (batch[43:],)
        yield batch[:17], batch[21:27], *records
        at += len(batch)


@pytest.mark.rotates(20)
@pytest.mark.sample(6)
@pytest.mark.parametrize(("release", "which", "settings"), CASES)
def test_copied_directories_equal_those_of_storage_tool(
    release: str,
    which: tuple[int, int],
    settings: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds.need_kafka(release)
    jvm = Jvm(java_for(release), release, fetch_release(release), HEAP)
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    cluster_id = new_cluster_id()
    found = []
    for name in ("tool", "copy"):
        folder = tmp_path / name
        config = node(release, folder, which, settings)
        if name == "tool":
            format_by_tool(config, cluster_id, jvm)
        else:
            format_node(config, cluster_id, jvm, tmp_path / "log")
        found.append(written(folder))
    assert found[0] == found[1]
    assert any(path.endswith(META) for path in found[0])


@pytest.mark.deep
@pytest.mark.parametrize(
    ("release", "nodes", "settings"),
    [
        ("2.8.2", 1, {}),
        ("3.3.2", 3, {}),
        ("3.6.2", 1, {}),
        ("3.9.2", 1, TWO_DIRECTORIES),
        ("4.0.2", 3, {}),
        ("4.4.0", 1, TWO_DIRECTORIES),
        ("4.4.0", 3, TWO_DIRECTORIES),
    ],
)
def test_brokers_start_from_copied_directories_without_formatting(
    release: str, nodes: int, settings: dict[str, str], tmp_path: Path
) -> None:
    kinds.need_kafka(release)
    logs = tmp_path / "logs"
    target = KafkaTarget(release, mode="kraft", nodes=nodes, settings=settings, log_dir=logs)
    for _ in range(2):
        before = {*logs.glob("*.log")}
        with target:
            round_trip(target)
    second = {*logs.glob("*.log")} - before
    assert archive_path(node(release, tmp_path, (nodes, 0), settings)).exists()
    assert len(second) == (nodes + 1 if nodes > 1 else 1)
    assert not [log for log in second if "Formatting" in log.read_text()]

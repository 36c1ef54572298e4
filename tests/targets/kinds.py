"""The kinds of target that the contract is tried on, made by name (in another process too)."""

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomlkit

from harness.targets.artifacts import fetch_release
from harness.targets.command import CommandTarget
from harness.targets.command_file import read_command_file
from harness.targets.external import ExternalBroker
from harness.targets.java import JavaError, find_java
from harness.targets.kafka.target import KafkaTarget
from harness.targets.pinned_file import DownloadError
from harness.targets.reference import ReferenceBroker
from harness.targets.reference_cluster import ReferenceCluster
from harness.targets.target import Target
from tests.targets.containers import images
from tests.targets.containers.images import docker_target
from tests.targets.owner import Owner

ROOT = Path(__file__).parents[2]
STAND_IN = (sys.executable, "-m", "tests.targets.stand_in")
KAFKA = "4.4.0"
KAFKA_ZK = "3.9.2"


def kafka(log_dir: Path) -> Target:
    return KafkaTarget(KAFKA, log_dir=log_dir)


def kafka_with_zookeeper(log_dir: Path) -> Target:
    return KafkaTarget(KAFKA_ZK, mode="zk", log_dir=log_dir)


def kafka_cluster(log_dir: Path) -> Target:
    return KafkaTarget(KAFKA, nodes=3, log_dir=log_dir)


def reference(log_dir: Path) -> Target:
    return ReferenceBroker(log_dir=log_dir)


def reference_cluster(log_dir: Path) -> Target:
    return ReferenceCluster(3, log_dir=log_dir)


def stand_in(log_dir: Path, settings: Mapping[str, str] | None = None) -> Target:
    return ReferenceBroker(log_dir=log_dir, command=STAND_IN, settings=settings)


def write_command_file(folder: Path, **changes: object) -> Path:
    """Write a file for the stand-in at a port of our choice; a change of None removes a key."""
    values: dict[str, object] = {
        "command": ["{python}", "-m", "tests.targets.stand_in", "port={port}", "data={dir}"],
        "implementation": "stand-in",
        "release": "1",
        "working_directory": str(ROOT),
        "capabilities": ["own_broker"],
        "readiness": {"address": "127.0.0.1:{port}"},
        **changes,
    }
    path = folder / "stand-in.toml"
    given = {key: value for key, value in values.items() if value is not None}
    path.write_text(tomlkit.dumps(given), "utf-8")
    return path


def command_target(folder: Path, **changes: object) -> CommandTarget:
    path = write_command_file(folder, **changes)
    return CommandTarget(read_command_file(path), f"command:{path}", log_dir=folder)


def command_at_port(log_dir: Path) -> Target:
    return command_target(log_dir)


def command_that_stores(log_dir: Path) -> Target:
    """A target with all capabilities of a local process."""
    return command_target(
        log_dir,
        capabilities=sorted(CommandTarget.capabilities),
        setting=["{name}={value}"],
        log_directories=["{dir}"],
        limits={"stop_timeout_ms": 20_000},
    )


def command_that_tells(log_dir: Path) -> Target:
    words = ["{python}", "-m", "tests.targets.stand_in"]
    line = r"^listening on (?P<host>\S+):(?P<port>\d+)$"
    return command_target(log_dir, command=words, readiness={"line": line})


@dataclass
class OwnedExternal:
    """An external target, and a function that ends its broker as the owner would."""

    target: ExternalBroker
    shut_down: Callable[[], object]


def external(log_dir: Path) -> OwnedExternal:
    theirs = stand_in(log_dir)
    return OwnedExternal(ExternalBroker(theirs.start()), theirs.stop)


def external_with_access_file(folder: Path) -> OwnedExternal:
    owner = Owner(folder)
    return OwnedExternal(owner.target(), owner.end)


def not_run(reason: str) -> None:
    """Skip a test that cannot run here; in CI it fails."""
    if os.environ.get("CI"):
        pytest.fail(f"not run: {reason}")
    pytest.skip(f"not run: {reason}")


def need_kafka(*releases: str) -> None:
    """Fetch these releases, by default the one that most tests use, or a ZooKeeper ("zk-...")."""
    for release in releases or (KAFKA,):
        try:
            find_java()
            fetch_release(release)
        except (JavaError, DownloadError) as problem:
            not_run(f"Apache Kafka {release}: {problem}")


def need_reference() -> None:
    if importlib.util.find_spec("harness.cli") is None:
        not_run("the reference broker: harness.cli is not there")


def docker_reference(log_dir: Path) -> Target:
    return docker_target(images.REFERENCE, log_dir)


def docker_reference_host(log_dir: Path) -> Target:
    return docker_target(f"{images.REFERENCE},network=host", log_dir)


def docker_kafka(log_dir: Path) -> Target:
    return docker_target(images.KAFKA, log_dir)


def docker_kafka_host(log_dir: Path) -> Target:
    return docker_target(f"{images.KAFKA},network=host", log_dir)

"""Content of images, without a daemon; and the command that builds them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.targets.artifacts import fetch_release
from harness.targets.containers import context
from harness.targets.containers.build import default_tag, main
from harness.targets.containers.context import Recipe, recipe_for, write_context
from harness.targets.containers.daemon import connect
from harness.targets.containers.shared_libraries import shared_libraries
from harness.targets.errors import TargetError
from tests.targets import kinds
from tests.targets.containers import images
from tests.targets.containers.own_daemon import Daemon


def context_of(recipe: Recipe) -> tarfile.TarFile:
    file = io.BytesIO()
    write_context(recipe, file)
    file.seek(0)
    return tarfile.open(fileobj=file)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("kafak:4.4.0", ['did you mean "kafka"', "known: kafka:RELEASE, reference"]),
        ("reference:1", ["no image of 'reference:1'"]),
        ("", ["no image of ''"]),
        ("kafka", ["no image of Kafka ''", "4.4.0"]),
        ("kafka:4.4.1", ["Kafka '4.4.1'", "did you mean", "4.4.0"]),
        ("kafka:2.8.2", ["Kafka '2.8.2'", "without ZooKeeper", "since 3.3: 3.3"]),
    ],
)
def test_unknown_image_recipe_exits_2_with_suggestion(what: str, words: list[str]) -> None:
    done = CliRunner().invoke(main, [what, "--context", "/dev/null"])
    assert done.exit_code == 2
    for word in words:
        assert word in done.output


def test_context_of_reference_broker_contains_programs_and_no_links() -> None:
    with context_of(recipe_for("reference")) as tar:
        names = set(tar.getnames())
        assert {"Dockerfile", "start.sh", "root/bin/sh", "root/python/bin/python3"} <= names
        assert "root/packages/harness/cli.py" in names
        assert "root/packages/harness/codec/schemas/ApiVersionsRequest.json" in names
        assert "root/packages/click/__init__.py" in names
        assert "root/libraries/libc.so.6" in names
        assert tar.getmember("root/tmp").mode == 0o1777
        assert all(member.isfile() or member.isdir() for member in tar), "no link leads outside"
        assert all(member.uid == 0 for member in tar if member.name.startswith("root/"))


def test_context_of_kafka_release_contains_jars_and_libraries(tmp_path: Path) -> None:
    kinds.need_kafka()
    file = tmp_path / "context.tar"
    done = CliRunner().invoke(main, ["kafka:3.9.2", "--context", str(file)])
    assert done.exit_code == 0, done.output
    with tarfile.open(file) as tar:
        names = set(tar.getnames())
    jars = {f"root/kafka/jars/{jar.name}" for jar in fetch_release("3.9.2")}
    assert {name for name in names if name.endswith(".jar") and "/jars/" in name} == jars
    assert {"Dockerfile", "start.sh", "server.properties", "root/java/bin/java"} <= names
    assert "root/libraries/libpthread.so.0" in names, "libraries inside jars ask for it"


def test_missing_dockerfile_raises_target_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "shipped_root", lambda: tmp_path)
    with pytest.raises(TargetError, match="has no Dockerfile: images are built from a source tree"):
        write_context(Recipe("kafka", "1", {}), io.BytesIO())


def test_shared_libraries_of_non_program_raises_target_error(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no program")
    with pytest.raises(TargetError, match="built on Linux with glibc"):
        shared_libraries([text])
    with pytest.raises(TargetError, match=r"ldd .*missing"):
        shared_libraries([tmp_path / "missing"])


def test_build_without_docker_daemon_exits_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    done = CliRunner().invoke(main, ["reference"])
    assert done.exit_code == 2
    assert "error: no Docker daemon answers at" in done.output


def test_default_tag_contains_image_name_and_release() -> None:
    assert default_tag("reference") == "kafka-conformance/reference:latest"
    assert default_tag("kafka:4.4.0") == "kafka-conformance/kafka:4.4.0"


def test_build_command_creates_labelled_image(at_images: Daemon, tmp_path: Path) -> None:
    tag = "kafka-conformance-test/by-command:1"
    done = CliRunner().invoke(main, ["reference", "--tag", tag])
    assert (done.exit_code, done.output) == (0, f"docker:{tag}\n")
    client = connect()
    try:
        labels = client.images.get(tag).labels
        assert labels["org.opencontainers.image.title"] == "kafka-conformance reference broker"
    finally:
        client.images.remove(tag)
        client.close()


def test_kafka_image_label_contains_release(at_images: Daemon) -> None:
    client = connect()
    try:
        labels = client.images.get(images.KAFKA).labels
        assert labels["org.opencontainers.image.version"] == images.KAFKA_RELEASE
    finally:
        client.close()

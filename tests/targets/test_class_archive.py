"""Archives of loaded classes: the ends of a JVM that leave one, and the starts that use it."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.targets.class_archive import ClassArchive
from harness.targets.java import JavaHome
from harness.targets.kafka.server import JavaServer
from labs.awaiting import await_that

STATUS_OF_JVM = 143
"""With which a JVM ends after SIGTERM, when all is done that it does at its end."""

LIKE_A_JVM = """
import pathlib, signal, sys
place, status = sys.argv[1:]
def end(*_):
    if place:
        pathlib.Path(place).write_bytes(b"classes")
    sys.exit(int(status))
signal.signal(signal.SIGTERM, end)
print("started", flush=True)
signal.pause()
"""


class Server(JavaServer):
    """Writes an archive at its end, as a JVM does; ``flags``: those of its last start."""

    flags: list[str]
    status = STATUS_OF_JVM
    starts = 0

    def _command(self, archive_flags: Sequence[str]) -> list[str]:
        self.flags = list(archive_flags)
        written = [word.partition("=")[2] for word in self.flags if "AtExit" in word]
        words = [*written, ""][:1]
        return [sys.executable, "-I", "-S", "-c", LIKE_A_JVM, *words, str(self.status)]

    def start(self, archive_in: Path | None) -> None:
        self.begin(archive_in)
        self.answered()

    def begin(self, archive_in: Path | None) -> None:
        self.launch(archive_in=archive_in)
        self.starts += 1
        await_that(lambda: self.log_text().count("started") == self.starts, "it runs")


@pytest.fixture
def java(tmp_path: Path) -> JavaHome:
    return JavaHome(tmp_path, tmp_path / "bin" / "java", 17, "17.0.1", "JAVA_HOME")


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "a.jar"
    path.write_text("a")
    return path


@pytest.fixture
def archive(tmp_path: Path, java: JavaHome, jar: Path) -> ClassArchive:
    return made(tmp_path, java, jar)


def made(tmp_path: Path, java: JavaHome, jar: Path) -> ClassArchive:
    return ClassArchive(tmp_path / "archives", "kafka-1", java, ["-Xmx1m"], [jar])


def test_archive_is_kept_atomically_and_then_read(
    tmp_path: Path, archive: ClassArchive, java: JavaHome, jar: Path
) -> None:
    assert archive.read_flags() == []
    left = tmp_path / "left"
    assert f"-XX:ArchiveClassesAtExit={left}" in archive.write_flags(left)
    left.write_text("classes")
    archive.path.parent.mkdir()
    archive.path.with_name(f"{archive.path.name}.new").write_text("of a process that was killed")
    archive.keep(left)
    assert archive.path.read_text() == "classes"
    assert f"-XX:SharedArchiveFile={archive.path}" in made(tmp_path, java, jar).read_flags()
    left.write_text("of another that ended later")
    archive.keep(left)
    assert archive.path.read_text() == "classes"
    assert {each.suffix for each in archive.path.parent.iterdir()} == {".jsa", ".lock"}


def test_missing_or_empty_archive_is_unusable_until_kept_again(
    tmp_path: Path, archive: ClassArchive
) -> None:
    left = tmp_path / "left"
    archive.keep(left)
    left.write_bytes(b"")
    archive.keep(left)
    assert not archive.is_usable()
    left.write_text("classes")
    archive.keep(left)
    assert archive.is_usable()


def test_changed_jar_gives_other_archive(
    tmp_path: Path, archive: ClassArchive, java: JavaHome, jar: Path
) -> None:
    jar.write_text("changed")
    assert made(tmp_path, java, jar).path != archive.path


def test_other_java_version_gives_other_archive(
    tmp_path: Path, archive: ClassArchive, java: JavaHome, jar: Path
) -> None:
    newer = JavaHome(java.home, java.executable, 17, "17.0.2", "JAVA_HOME")
    assert made(tmp_path, newer, jar).path != archive.path


@pytest.fixture
def server(tmp_path: Path, archive: ClassArchive) -> Iterator[Server]:
    jvm = cast("Any", SimpleNamespace(archive=archive, environment=dict(os.environ)))
    server = Server("the server", jvm, tmp_path / "node", tmp_path / "log")
    yield server
    server.kill()


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("end", [JavaServer.stop, JavaServer.end_for_archive])
def test_orderly_end_leaves_archive_for_next_start(
    server: Server, archive: ClassArchive, scratch: Path, end: Callable[[Server], None]
) -> None:
    server.start(scratch)
    end(server)
    assert not server.is_alive()
    assert archive.path.read_bytes() == b"classes"
    assert not list(scratch.iterdir())
    server.start(scratch)
    assert server.flags == archive.read_flags() != []


def test_killed_jvm_leaves_no_archive_and_next_stop_does(
    server: Server, archive: ClassArchive, scratch: Path
) -> None:
    server.start(scratch)
    server.kill()
    assert not archive.is_usable()
    server.start(scratch)
    server.stop()
    assert archive.is_usable()


def test_jvm_with_other_exit_status_leaves_no_archive(
    server: Server, archive: ClassArchive, scratch: Path
) -> None:
    server.status = 1
    server.start(scratch)
    server.stop()
    assert not archive.is_usable()


def test_jvm_that_never_answered_leaves_no_archive(
    server: Server, archive: ClassArchive, scratch: Path
) -> None:
    server.start(scratch)
    server.kill()
    server.begin(scratch)
    server.end_for_archive()
    assert server.is_alive()
    server.stop()
    assert not archive.is_usable()


def test_start_without_archive_folder_writes_no_archive(
    server: Server, archive: ClassArchive
) -> None:
    server.start(None)
    assert server.flags == []
    server.end_for_archive()
    assert server.is_alive()


def test_existing_archive_is_kept_and_server_not_ended(
    server: Server, archive: ClassArchive, scratch: Path, tmp_path: Path
) -> None:
    server.start(scratch)
    left = tmp_path / "of another"
    left.write_text("classes of another")
    archive.keep(left)
    server.end_for_archive()
    assert server.is_alive()
    server.stop()
    assert archive.path.read_text() == "classes of another"

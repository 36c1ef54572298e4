"""The official classes in a Java process of their own: questions in, answers out, one for one."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from harness.targets.java import find_java
from labs.official_classes.maven import build

T = TypeVar("T")
POM = Path(__file__).with_name("pom.xml")
SOURCES = Path(__file__).with_name("src")
IN_FLIGHT = 2000  # questions that wait for their answer: what bounds the memory
ANSWER_TIMEOUT_S = 120
_SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_MOVED = ("common.record.internal.", "common.utils.internals.")  # in 4.x, from the package above


class OfficialClassesError(Exception):
    """The Java process ended or did not answer; the text is the end of its output."""


@dataclass(frozen=True)
class Release:
    """A release of the broker and the client that judge ours; ``streams``: the nearest on Maven."""

    name: str
    streams: str
    moved: bool  # the record classes stand in an internal package


RELEASES = {
    one.name: one
    for one in (
        Release("3.9.2", "3.9.2", moved=False),
        Release("4.4.0", "4.3.1", moved=True),
    )
}


def compiled(release: Release, folder: Path) -> str:
    """Compile the program for a release; its class path. Raises like ``maven.build``."""
    sources = folder / "sources" / "crosscheck"
    sources.mkdir(parents=True)
    for file in SOURCES.glob("*.java"):
        text = file.read_text("utf-8")
        if not release.moved:
            for package in _MOVED:
                text = text.replace(package, package.rsplit(".", 2)[0] + ".")
        (sources / file.name).write_text(text, "utf-8")
    properties = {
        "kafka.version": release.name,
        "kafka.streams.version": release.streams,
        "crosscheck.directory": str(folder),
    }
    build(POM, "compile", properties)
    jars = (folder / "classpath").read_text("utf-8").strip()
    return os.pathsep.join((str(folder / "classes"), jars))


class OfficialClasses:
    """One Java process; questions are written while answers are read."""

    def __init__(self, class_path: str) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed in __exit__
        # Killed, it would leave its codecs' libraries there.
        self._unpacked = tempfile.TemporaryDirectory()
        command = [str(find_java().executable), "-Xmx512m", *_SHORT_LIVED]
        command.append(f"-Djava.io.tmpdir={self._unpacked.name}")
        self._java = subprocess.Popen(
            [*command, "-cp", class_path, "crosscheck.CrossCheck"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            encoding="utf-8",
        )

    def __enter__(self) -> OfficialClasses:
        return self

    def __exit__(self, *_: object) -> None:
        self._java.kill()
        self._java.wait()
        self._unpacked.cleanup()
        for stream in (self._java.stdin, self._java.stdout, self._said):
            try:
                stream.close()  # type: ignore[union-attr]
            except BrokenPipeError:
                continue  # what was not yet written is of no use now

    def ask_one(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question."""
        ((_, answer),) = self.ask([(None, question)])
        found: dict[str, Any] = answer
        return found

    def ask(self, questions: Iterable[tuple[T, dict[str, Any]]]) -> Iterator[tuple[T, Any]]:
        """(what came with a question, its answer), in order. Read it to its end."""
        asked: queue.Queue[Any] = queue.Queue(IN_FLIGHT)
        writer = threading.Thread(target=self._write, args=(questions, asked), daemon=True)
        writer.start()
        while True:
            about = asked.get(timeout=ANSWER_TIMEOUT_S)
            if about is None:
                break
            if isinstance(about, BaseException):
                raise about
            assert self._java.stdout is not None
            line = self._java.stdout.readline()
            if not line:
                raise OfficialClassesError(self._last_words())
            yield about[0], json.loads(line)
        writer.join()

    def _write(
        self, questions: Iterable[tuple[Any, dict[str, Any]]], asked: queue.Queue[Any]
    ) -> None:
        assert self._java.stdin is not None
        try:
            for about, question in questions:
                line = json.dumps(question)
                asked.put((about,))
                self._java.stdin.write(line + "\n")
                self._java.stdin.flush()
            asked.put(None)
        except BaseException as error:  # raised where the answers are read
            asked.put(error)

    def _last_words(self) -> str:
        self._java.wait(ANSWER_TIMEOUT_S)
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "replace")[-3000:]
        return f"the Java process ended with {self._java.returncode}: {said}"

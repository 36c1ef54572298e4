"""The process of a Kafka Streams application (``java/src/Counts.java``)."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from harness.clients.java_program import FLAGS, JavaProgram
from harness.targets.java import find_java
from labs.clients.official import RELEASE, by_maven

FOLDER = Path(__file__).with_name("java")
PROGRAM = JavaProgram(FOLDER, RELEASE, (f"streams-{RELEASE}", RELEASE))
MAIN = "streams.Counts"
END_S = 20.0


@dataclass
class StreamsApplication:
    """An application that counts the records of an input topic by key, into an output topic.

    ``folder`` has its state and its log. It needs no RocksDB: its store is in memory and restored
    from its changelog.
    """

    bootstrap: str
    name: str
    topics: tuple[str, str]
    folder: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def has_ended(self) -> bool:
        """True if its process ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def start(self) -> None:
        """Raises JavaError, DownloadError or MavenError: what it needs is not there."""
        words = [str(find_java().executable), *FLAGS, f"-Djava.io.tmpdir={self.folder}", MAIN]
        words += [self.bootstrap, self.name, str(self.folder / "state"), *self.topics]
        environment = {**os.environ, "CLASSPATH": PROGRAM.class_path(by_maven)}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(words, env=environment, stdout=log, stderr=log)

    def kill(self) -> None:
        """End it at once, in the middle of a transaction. Twice is fine."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(END_S)
            self._process = None

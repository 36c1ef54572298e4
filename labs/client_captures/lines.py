"""The clients that are captured: one release of each line, and a Kafka that it can speak to.

A row of ``CLIENTS`` is a client and the function that runs it; ``BROKER`` is the newest Kafka that
still has the versions of old clients, ``NEWEST`` the newest at all.
"""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.base.cache import cache_dir
from harness.codec.releases import release_numbers
from harness.targets.artifacts import fetch_release
from harness.targets.client_jar import fetch_client_jar, pinned_client_jars
from harness.targets.java import find_java
from harness.targets.kafka.release import JUDGED
from harness.targets.obtain import BrokerSource, obtain
from harness.targets.pinned_file import exclusive
from labs.client_versions.clients import CLIENTS as PINNED
from labs.client_versions.packages import Package, fetch_package

BROKER, NEWEST = "3.9.2", "4.4.0"
FIRST_FOR_NEWEST = (2, 1)
"""Kafka 4.0 removed the versions of clients before 2.1 (KIP-896)."""
PROGRAMS = Path(__file__).with_name("programs")
LIMIT_S = 300
TAIL_CHARACTERS = 800
_COMPANIONS = ("slf4j-api", "lz4-java", "snappy-java", "zstd-jni")
_FIRST_CONSUMER = (0, 9)
RECORDS = b"".join(b"value %d\n" % number for number in range(9))
(KAFKAJS,) = PINNED["kafkajs"].packages
LIBRDKAFKA = Package(
    "cargo",
    "rdkafka-sys",
    "1.2.2",
    "78d4b56497b669efc00f1741cc39763e94f712f07817dfc3d96181fe41b535ea",
    2602153,
)
"""The crate with the sources of librdkafka 1.2.2."""


class CapturedClientFailed(Exception):
    """A client ended with an error; the text has the end of its output."""


@dataclass(frozen=True, slots=True)
class CapturedClient:
    """``run`` takes the bootstrap address and the topic; it raises CapturedClientFailed."""

    client: str
    release: str
    broker: str
    run: Callable[[str, str], None]

    @property
    def name(self) -> str:
        """The name of its capture."""
        return f"{self.client}-{self.release}"


def _run(words: list[str], given: bytes = b"") -> None:
    ended = subprocess.run(words, input=given, check=False, timeout=LIMIT_S, capture_output=True)
    if ended.returncode:
        said = (ended.stderr or ended.stdout).decode(errors="replace")[-TAIL_CHARACTERS:]
        raise CapturedClientFailed(
            f"{' '.join(words[:1] + words[-3:])} ended with an error:\n{said}"
        )


# The official client of Java


def _java(release: str, bootstrap: str, topic: str) -> None:
    companions = [jar for jar in fetch_release(NEWEST) if jar.name.startswith(_COMPANIONS)]
    path = os.pathsep.join(map(str, [fetch_client_jar(release), *companions]))
    words = [str(find_java().executable), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", path]
    _run([*words, str(PROGRAMS / "ProducerLine.java"), bootstrap, topic])
    if release_numbers(release) >= _FIRST_CONSUMER:
        _run([*words, str(PROGRAMS / "ConsumerLine.java"), bootstrap, topic])


def _java_clients() -> list[CapturedClient]:
    """The newest of each minor line among the releases that are judged."""
    lines: dict[tuple[int, ...], str] = {}
    for release in (one for one in pinned_client_jars() if one in JUDGED):
        numbers = release_numbers(release)
        lines[numbers[: 3 if numbers[0] == 0 else 2]] = release
    return [
        CapturedClient(
            "java",
            release,
            NEWEST if release_numbers(release) >= FIRST_FOR_NEWEST else BROKER,
            partial(_java, release),
        )
        for release in lines.values()
    ]


# kafkajs and librdkafka


@cache
def _unpacked(package: Package) -> Path:
    """The files of a package, in a folder of the cache."""
    folder = cache_dir() / "client-captures" / package.sha256
    with exclusive(folder):
        if not folder.is_dir():
            with TemporaryDirectory(dir=folder.parent) as made:
                with tarfile.open(fetch_package(package)) as archive:
                    archive.extractall(made, filter="data")
                next(Path(made).iterdir()).rename(folder)
    return folder


def _kafkajs(bootstrap: str, topic: str) -> None:
    folder = _unpacked(KAFKAJS)
    _run(["node", str(PROGRAMS / "kafkajs.cjs"), str(folder), bootstrap, topic])


def _rdkafka_example() -> Path:
    """Its example program, built once."""
    sources = _unpacked(LIBRDKAFKA) / "librdkafka"
    program = sources / "examples" / "rdkafka_example"
    with exclusive(program):
        if not program.exists():
            switches = ("ssl", "gssapi", "sasl", "zstd", "lz4-ext", "optimization")
            script = f"./configure {' '.join(f'--disable-{one}' for one in switches)}"
            script += " && make -C src librdkafka.a && make -C examples rdkafka_example"
            subprocess.run(["sh", "-c", script], cwd=sources, check=True, capture_output=True)
    return program


def _librdkafka(bootstrap: str, topic: str) -> None:
    words = [str(_rdkafka_example()), "-t", topic, "-b", bootstrap, "-p", "0"]
    _run([*words, "-P"], given=RECORDS)
    _run([*words, "-C", "-o", "beginning", "-e"])


# Clients in Go


def _go_program(name: str, bootstrap: str, topic: str) -> None:
    """Built once into the cache."""
    source = BrokerSource("go", PROGRAMS / name)
    _run([str(obtain(source) / name), bootstrap, topic])


def _go_client(client: str, name: str, module: str) -> CapturedClient:
    """At the release that the program's go.mod pins."""
    pins = (PROGRAMS / name / "go.mod").read_text("utf-8")
    (release,) = re.findall(rf"{re.escape(module)} v(\S+)", pins)
    return CapturedClient(client, release, NEWEST, partial(_go_program, name))


CLIENTS = {
    one.name: one
    for one in (
        *_java_clients(),
        CapturedClient("librdkafka", LIBRDKAFKA.release, BROKER, _librdkafka),
        CapturedClient("kafkajs", KAFKAJS.release, BROKER, _kafkajs),
        _go_client("franz-go", "franz_go", "github.com/twmb/franz-go"),
        _go_client("sarama", "sarama", "github.com/IBM/sarama"),
    )
}

"""The clients by the words of ``--client``: which release there is, and how its process is started.

A word is ``NAME`` or ``NAME-RELEASE`` of a client below, or the path of a driver file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Final

from harness.base.extras import MissingExtra
from harness.base.suggestion import did_you_mean
from harness.clients.driver_file import read_driver_file
from harness.clients.official import NEWEST, official, official_classes
from harness.clients.programs import PROGRAMS
from harness.clients.session import ClientSession
from harness.negotiation.client_file import ClientFile, ClientFileError, find_client
from harness.targets.artifacts import pinned_releases

EXTRA: Final = "clients"
JAVA: Final = "java"
_WORD: Final = re.compile(r"([a-z][a-z-]*?)(?:-(\d+(?:\.\d+)*(?:\.x)?))?")

Start = Callable[[str, Path, float], ClientSession]
"""Starts the process: the bootstrap addresses, the file of its log, the seconds for an answer."""


def _nothing() -> None:
    """Do nothing."""


class UnknownClient(ValueError):
    """There is no such client, or not of this release; the text says what there is."""


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client that can be asked. ``versions``: None where its versions of APIs are not known.

    ``prepare`` gets what the first start needs, so that tests need not wait for it; it raises
    JavaError or a TargetError.
    """

    name: str
    release: str
    start: Start
    versions: ClientFile | None
    prepare: Callable[[], object] = _nothing

    @property
    def label(self) -> str:
        """As in results: ``kafka-python-3.0.12``."""
        return f"{self.name}-{self.release}"


@dataclass(frozen=True, slots=True)
class PythonClient:
    """A package: the module that it installs, and the words before its release in client files.

    ``same_minor``: the file is of another library, with releases of the same first two numbers.
    """

    module: str
    file: str
    same_minor: bool = False


PYTHON: Final[Mapping[str, PythonClient]] = MappingProxyType(
    {
        "confluent-kafka": PythonClient("confluent_kafka", "librdkafka", same_minor=True),
        "kafka-python": PythonClient("kafka", "kafka-python"),
        "aiokafka": PythonClient("aiokafka", "aiokafka"),
    }
)
NAMES: Final = (*PYTHON, JAVA, *PROGRAMS)


def parse_client(word: str) -> KnownClient:
    """The client of a word, or of a driver file.

    Raises UnknownClient; MissingExtra: its package is not installed.
    """
    if word.endswith(".toml"):
        return _of_file(Path(word))
    parts = _WORD.fullmatch(word)
    name, release = parts.groups() if parts else (word, None)
    if name not in NAMES:
        raise UnknownClient(
            f"no client {word!r}{did_you_mean(name, NAMES)}; known: {', '.join(NAMES)}, each with "
            "-RELEASE or without; or give a driver file NAME.toml (docs/clients.md)"
        )
    if name in PROGRAMS:
        return _program(name, release)
    return _java(release) if name == JAVA else _python(name, release)


def _of_file(path: Path) -> KnownClient:
    try:
        file = read_driver_file(path)
        versions = find_client(file.versions) if file.versions else None
    except (ClientFileError, ValueError) as problem:
        raise UnknownClient(str(problem)) from problem

    def start(bootstrap: str, log: Path, answer_s: float) -> ClientSession:
        words = [*file.command, bootstrap]
        return ClientSession(words, log, answer_s=answer_s, directory=path.absolute().parent)

    return KnownClient(file.name, file.release, start, versions)


def _python(name: str, wanted: str | None) -> KnownClient:
    package = PYTHON[name]
    try:
        release = version(name)
    except PackageNotFoundError:
        raise MissingExtra(package.module, EXTRA) from None
    if not _fits(release, wanted):
        raise UnknownClient(
            f"{name} {wanted} is not installed, {release} is: pip install "
            f"'{name}=={(wanted or '').removesuffix('.x')}.*'"
        )
    words = [sys.executable, "-P", "-m", "harness.clients.one_client", name]

    def start(bootstrap: str, log: Path, answer_s: float) -> ClientSession:
        return ClientSession([*words, bootstrap], log, answer_s=answer_s)

    of = ".".join(release.split(".")[:2]) if package.same_minor else release
    return KnownClient(name, release, start, _versions(f"{package.file}-{of}"))


def _program(name: str, wanted: str | None) -> KnownClient:
    client = PROGRAMS[name]
    release = client.release
    if not _fits(release, wanted):
        raise UnknownClient(f"{name} {wanted} is not the release that its driver has: {release}")

    def start(bootstrap: str, log: Path, answer_s: float) -> ClientSession:
        return ClientSession([*client.command(name), bootstrap], log, answer_s=answer_s)

    versions = _versions(f"{client.file}-{release}")
    return KnownClient(name, release, start, versions, lambda: client.command(name))


def _java(wanted: str | None) -> KnownClient:
    fitting = [one for one in pinned_releases() if _fits(one, wanted)]
    if not fitting:
        raise UnknownClient(
            f"no release {wanted} of the Java clients; `kafka-conformance targets` lists those of "
            "Kafka, and the clients have the same"
        )
    release = max(fitting, key=_numbers) if wanted else NEWEST

    def start(bootstrap: str, log: Path, answer_s: float) -> ClientSession:
        return official(bootstrap, log, release, answer_s=answer_s)

    versions = _versions(f"kafka-clients-{release}")
    return KnownClient(JAVA, release, start, versions, lambda: official_classes(release))


def _versions(file: str) -> ClientFile | None:
    try:
        return find_client(file)
    except ClientFileError:
        return None


def _fits(release: str, wanted: str | None) -> bool:
    """True if a release is the wanted one, or within the line of ``2.x`` or ``2.4``."""
    line = (wanted or release).removesuffix(".x")
    return release == line or release.startswith(f"{line}.")


def _numbers(release: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", release)]

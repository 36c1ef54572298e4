"""The definitions inside a jar of Kafka's, or in a folder of such files, and their release."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from harness.codec.drift.definition import Definition, read_definition
from harness.codec.drift.errors import DriftError
from harness.codec.errors import DefinitionError

_FOLDERS = ("message", "metadata")  # common/message in most jars, common/metadata in one
_VERSION_FILES = ("kafka/kafka-version.properties", "META-INF/MANIFEST.MF")
_VERSION = re.compile(r"^(?:version=|Implementation-Version: *)(\d+(?:\.\d+)+)", re.MULTILINE)


@dataclass(frozen=True)
class Definitions:
    """The definitions of a release by message name; ``unreadable``: file name to reason."""

    release: str
    messages: dict[str, Definition]
    unreadable: dict[str, str] = field(default_factory=dict)


def read_definitions(path: Path, release: str | None = None) -> Definitions:
    """All definitions in a jar (``common/message/*.json`` in most) or directly in a folder.

    The release is the jar's own unless given. Raises DriftError when there is nothing to read, or
    when no one says the release.
    """
    texts, own_release = _folder(path) if path.is_dir() else _jar(path)
    if not texts:
        raise DriftError(
            f"{path}: no message definitions inside; name a kafka-clients jar of 2.2 or later "
            "(it has common/message/*.json), or a folder of such files"
        )
    found = release or own_release
    if found is None:
        raise DriftError(f"{path} does not say its release; name it with --release, like 3.9.2")
    return _read(found, texts)


def _read(release: str, texts: dict[str, str]) -> Definitions:
    found = Definitions(release, {})
    for name, text in texts.items():
        try:
            definition = read_definition(text, name)
            found.messages[definition.spec.name] = definition
        except DefinitionError as error:
            found.unreadable[name] = str(error)
    return found


def _folder(path: Path) -> tuple[dict[str, str], None]:
    return {file.name: _utf8(file.read_bytes()) for file in sorted(path.glob("*.json"))}, None


def _jar(path: Path) -> tuple[dict[str, str], str | None]:
    try:
        with zipfile.ZipFile(path) as archive:
            texts = {PurePosixPath(n).name: _utf8(archive.read(n)) for n in _names(archive)}
            return texts, _release(archive)
    except (OSError, zipfile.BadZipFile) as error:
        raise DriftError(
            f"{path} cannot be read as a jar: {error}; name a kafka-clients jar, or a folder"
        ) from error


def _names(archive: zipfile.ZipFile) -> Iterator[str]:
    for name in sorted(archive.namelist()):
        path = PurePosixPath(name)
        if path.parent.name in _FOLDERS and path.suffix == ".json":
            yield name


def _release(archive: zipfile.ZipFile) -> str | None:
    for name in _VERSION_FILES:
        if name in archive.namelist():
            found = _VERSION.search(_utf8(archive.read(name)))
            if found:
                return found[1]
    return None


def _utf8(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")

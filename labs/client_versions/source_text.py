"""The files of packages as text, by their paths inside of the archives."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from labs.client_versions.packages import PackageError

Sources = Mapping[str, str]
"""Path in the archive -> text. Read as Latin-1, so that a class file is a text as well."""


def read_sources(archives: Iterable[Path]) -> Sources:
    """All files of zip archives (jar, wheel, Go module) and compressed tar archives.

    Raises PackageError for a file that is neither.
    """
    found: dict[str, str] = {}
    for path in archives:
        try:
            found |= _zipped(path) if zipfile.is_zipfile(path) else _tarred(path)
        except (tarfile.TarError, zipfile.BadZipFile) as problem:
            raise PackageError(f"{path}: neither a zip nor a tar archive: {problem}") from problem
    return found


def _zipped(path: Path) -> Sources:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode("latin-1") for name in archive.namelist()}


def _tarred(path: Path) -> Sources:
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                found[member.name] = file.read().decode("latin-1")
    return found


def matching(sources: Sources, pattern: str) -> Sources:
    """The files with a path that matches the whole expression, in the order of their paths."""
    return {path: sources[path] for path in sorted(sources) if re.fullmatch(pattern, path)}

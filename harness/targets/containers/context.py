"""Build contexts: what the Dockerfiles in ``docker/`` are given, as tar files.

Nothing comes from a registry: the Kafka jars are those of the cache, the runtimes and the shared
libraries are this machine's.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from harness.base.bundle import shipped_root
from harness.base.suggestion import did_you_mean
from harness.codec.releases import release_numbers
from harness.targets.artifacts import fetch_release, pinned_releases
from harness.targets.containers import python_runtime
from harness.targets.containers.java_runtime import java_runtime
from harness.targets.containers.shared_libraries import shared_libraries
from harness.targets.errors import TargetError
from harness.targets.pinned_file import Progress

KRAFT_SINCE = (3, 3)
JAVA_MINIMUM = 17
SHELL = Path("/bin/sh")
LIBRARIES = "libraries"
ROOT = "root"
PASSWD = b"root:x:0:0:root:/:/bin/sh\n"
# Drawing, fonts and sound: they would pull in half a desktop.
_JAVA_LEFT_OUT = ("libawt", "libfontmanager", "libfreetype", "libjavajpeg", "libjawt", "libjsound",
                  "liblcms", "libmlib_image", "libsplashscreen")  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """One image: its folder below ``docker/``, the release for its label, its files.

    ``files``: path in the image -> file here.
    """

    folder: str
    release: str
    files: Mapping[str, Path]


def recipe_for(what: str, progress: Progress | None = None) -> Recipe:
    """``reference`` or ``kafka:RELEASE``. Raises TargetError: anything else, or no material."""
    name, colon, rest = what.partition(":")
    if name not in _RECIPES or (name == "reference" and colon):
        near = did_you_mean(name, _RECIPES)
        raise TargetError(f"there is no image of {what!r}{near}; known: kafka:RELEASE, reference")
    return _RECIPES[name](rest, progress)


def _kafka(release: str, progress: Progress | None) -> Recipe:
    releases = [each for each in pinned_releases() if release_numbers(each) >= KRAFT_SINCE]
    if release not in releases:
        raise TargetError(
            f"there is no image of Kafka {release!r}{did_you_mean(release, releases)}; it is one "
            f"node without ZooKeeper, as releases can be since 3.3: {', '.join(releases)}"
        )
    jars = {f"kafka/jars/{jar.name}": jar for jar in fetch_release(release, progress)}
    return Recipe("kafka", release, {**jars, **_java(), "bin/sh": SHELL.resolve()})


def _java() -> dict[str, Path]:
    home = java_runtime(JAVA_MINIMUM)
    files = {
        f"java/{file.relative_to(home).as_posix()}": file
        for file in sorted(home.rglob("*"))
        if file.is_file() and not file.name.startswith(_JAVA_LEFT_OUT)
    }
    libraries = [file for file in files.values() if ".so" in file.suffixes]
    programs = [home / "bin" / "java", home / "lib" / "jspawnhelper", SHELL, *libraries]
    own = {file.name for file in libraries}
    return {**files, **_libraries([each for each in programs if each.exists()], own)}


def _libraries(programs: Iterable[Path], own: Iterable[str] = ()) -> dict[str, Path]:
    """By name into one folder, the loader itself where programs look for it."""
    found = shared_libraries(programs, frozenset(own))
    return {
        name[1:] if name.startswith("/") else f"{LIBRARIES}/{name}": path
        for name, path in found.items()
    }


def _reference(_: str, __: Progress | None) -> Recipe:
    program = python_runtime.interpreter()
    standard = {f"python/{path}": file for path, file in python_runtime.standard_library()}
    packages = {f"packages/{path}": file for path, file in python_runtime.packages()}
    files = {**standard, **packages, "python/bin/python3": program, "bin/sh": SHELL.resolve()}
    native = [file for file in files.values() if file.suffix == ".so"]
    carried = _libraries([program, SHELL, *native])
    return Recipe("reference", version("kafka-conformance"), {**files, **carried})


_RECIPES: dict[str, Callable[[str, Progress | None], Recipe]] = {
    "kafka": _kafka,
    "reference": _reference,
}


def write_context(recipe: Recipe, out: BinaryIO) -> None:
    """The tar file that ``docker build -`` takes. Raises TargetError: no Dockerfile here."""
    folder = shipped_root() / "docker" / recipe.folder
    if not (folder / "Dockerfile").is_file():
        raise TargetError(f"{folder} has no Dockerfile: images are built from a source tree")
    with tarfile.open(fileobj=out, mode="w") as tar:
        for file in sorted(folder.iterdir()):
            tar.add(file, file.name)
        _add_folder(tar, f"{ROOT}/tmp", 0o1777)  # noqa: S108 - that of the image
        _add_bytes(tar, f"{ROOT}/etc/passwd", PASSWD)
        for path, file in sorted(recipe.files.items()):
            entry = tar.gettarinfo(str(file.resolve()), f"{ROOT}/{path}")
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            with file.open("rb") as data:
                tar.addfile(entry, data)


def _add_folder(tar: tarfile.TarFile, name: str, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    tar.addfile(entry)


def _add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))

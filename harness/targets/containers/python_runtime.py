"""The Python that runs us, for an image: interpreter, standard library, the few packages needed."""

from __future__ import annotations

import importlib.metadata
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import harness
from harness.targets.errors import TargetError

# What the reference broker imports; cramjam compresses, google-crc32c checks.
DISTRIBUTIONS = ("click", "cramjam", "google-crc32c")
_LEFT_OUT = {
    "__pycache__", "dist-packages", "ensurepip", "idlelib", "lib2to3", "pydoc_data",
    "site-packages", "test", "tests", "tkinter", "turtledemo",
}  # fmt: skip
_EXTENSIONS_LEFT_OUT = ("_ctypes_test", "_curses", "_dbm", "_gdbm", "_sqlite3", "_test", "_tkinter",
                        "_xx", "readline", "xxlimited")  # fmt: skip
_CODE = (".py", ".so", ".json", ".txt", ".tsv", ".toml")


def interpreter() -> Path:
    """The program itself, behind all links and virtual environments."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def standard_library() -> Iterator[tuple[str, Path]]:
    """(path below the runtime's home, file): lib/python3.N/..."""
    root = Path(sysconfig.get_path("stdlib"))
    name = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    for path, file in _files(root, name):
        if file.suffix == ".so" and file.name.startswith(_EXTENSIONS_LEFT_OUT):
            continue
        yield path, file


def packages() -> Iterator[tuple[str, Path]]:
    """(path below a folder of sys.path, file): this package and what the broker imports."""
    root = Path(harness.__file__).parent
    for path, file in _files(root, "harness"):
        if "_bundled" not in file.parts:
            yield path, file
    for name in DISTRIBUTIONS:
        yield from _distribution(name)


def _distribution(name: str) -> Iterator[tuple[str, Path]]:
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError as problem:
        raise TargetError(
            f"the package {name} is not installed, which the broker needs"
        ) from problem
    for each in found.files or ():
        file = Path(str(each.locate()))
        if ".." not in each.parts and "__pycache__" not in each.parts and file.is_file():
            yield each.as_posix(), file


def _files(root: Path, name: str) -> Iterator[tuple[str, Path]]:
    for entry in sorted(root.iterdir()):
        if entry.is_dir():
            if entry.name not in _LEFT_OUT and not entry.name.startswith("config-"):
                yield from _files(entry, f"{name}/{entry.name}")
        elif entry.suffix in _CODE:
            yield f"{name}/{entry.name}", entry

"""The shared libraries that programs need, to carry them into an image that has none."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterable
from pathlib import Path

from harness.targets.errors import TargetError

_NAMED = re.compile(r"^\s*(?P<name>\S+) => (?P<path>/\S+) \(0x", re.MULTILINE)
_LOADER = re.compile(r"^\s*(?P<path>/\S+) \(0x", re.MULTILINE)
_MISSING = re.compile(r"^\s*(?P<name>\S+) => not found", re.MULTILINE)
_C_LIBRARY = "libc.so.6"
# Once parts of the C library: libraries inside jars still ask for them by name.
_PARTS_OF_C = ("libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1")


def shared_libraries(programs: Iterable[Path], own: Collection[str] = ()) -> dict[str, Path]:
    """Name as the loader looks for it -> file; an absolute name is the loader's own.

    ``own`` are names that the programs bring along and find by themselves. Raises TargetError:
    not Linux with glibc, a library is missing.
    """
    found: dict[str, Path] = {}
    for program in programs:
        text = _ldd(program)
        missing = [m["name"] for m in _MISSING.finditer(text) if m["name"] not in own]
        if missing:
            raise TargetError(f"{program} needs the shared library {missing[0]}, not found here")
        found.update({match["name"]: Path(match["path"]) for match in _NAMED.finditer(text)})
        found.update({match["path"]: Path(match["path"]) for match in _LOADER.finditer(text)})
    if _C_LIBRARY not in found:
        raise TargetError(f"images are built on Linux with glibc: nothing here needs {_C_LIBRARY}")
    beside = {name: found[_C_LIBRARY].with_name(name) for name in _PARTS_OF_C}
    found = {name: path for name, path in beside.items() if path.exists()} | found
    return {name: path for name, path in found.items() if name not in own}


def _ldd(program: Path) -> str:
    try:
        done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    except FileNotFoundError as problem:
        raise TargetError("images are built on Linux with ldd, which is not there") from problem
    said = (done.stderr + done.stdout).strip()
    if done.returncode and "not a dynamic executable" not in said:
        raise TargetError(f"ldd {program}: {said}")
    return "" if done.returncode else done.stdout

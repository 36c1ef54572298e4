"""A driver file: the program of a client that this project does not know, as TOML.

::

    name = "my-client"
    release = "1.4.0"
    command = ["./my-driver", "--verbose"]  # in the folder of this file; the addresses come last
    versions = "franz-go-1.22.3"            # optional: a client file, by its name or its path
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.conformance.toml_entry import load_table

_NAME: Final = r"[A-Za-z][A-Za-z0-9_-]*"
_RELEASE: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*"


class DriverFileError(ValueError):
    """A driver file is missing or wrong; the message names file and key."""


@dataclass(frozen=True, slots=True)
class DriverFile:
    """The content of a driver file; ``versions``: None where it names no client file."""

    name: str
    release: str
    command: tuple[str, ...]
    versions: str | None


def read_driver_file(path: Path) -> DriverFile:
    """Read and check a driver file. Raises DriverFileError."""
    entry = load_table(path, DriverFileError)
    file = DriverFile(
        name=entry.text("name", pattern=_NAME),
        release=entry.text("release", pattern=_RELEASE),
        command=entry.texts("command"),
        versions=_beside(path, entry.optional_text("versions")),
    )
    entry.finish()
    return file


def _beside(path: Path, versions: str | None) -> str | None:
    """The path of a client file is relative to the folder of the driver file."""
    is_path = versions is not None and re.search(r"\.toml$", versions)
    return str(path.parent / versions) if versions is not None and is_path else versions

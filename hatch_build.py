"""A step of the wheel's build: the suites as one archive.

As files they are a third of an installation, and most of that is bytecode of pip; most commands
need none of it (docs/install.md). The archive has no times, so that the same suites give the same
wheel.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SUITES = "suites"
IN_THE_WHEEL = "harness/_bundled/suites.zip"
FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an archive can have."""


def write_archive(folder: Path, archive: Path) -> None:
    """Write all files of a folder, without bytecode, below its name."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                entry = zipfile.ZipInfo(file.relative_to(folder.parent).as_posix(), FIRST_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                made.writestr(entry, file.read_bytes(), compresslevel=9)


class SuitesArchive(BuildHookInterface[Any]):
    """Adds the archive to a wheel; an editable one finds the folder itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        archive = Path(self.directory) / "suites.zip"
        archive.parent.mkdir(parents=True, exist_ok=True)
        write_archive(Path(self.root) / SUITES, archive)
        build_data["force_include"][str(archive)] = IN_THE_WHEEL

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del version, build_data, artifact_path
        (Path(self.directory) / "suites.zip").unlink(missing_ok=True)

"""A name resolution of its own for one Java process (``jdk.net.hosts.file``, since Java 9)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_hosts(folder: Path, hosts: Mapping[str, str]) -> list[str]:
    """Write the file; the JVM arguments that point to it. Nothing for no names.

    The process then resolves these names and no others.
    """
    if not hosts:
        return []
    path = folder / "hosts"
    path.write_text("".join(f"{address} {name}\n" for name, address in hosts.items()))
    return [f"-Djdk.net.hosts.file={path}"]

"""The only module that imports pyarrow, which carries no types of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow
import pyarrow.parquet

pa: Final[Any] = pyarrow
pq: Final[Any] = pyarrow.parquet

Table: TypeAlias = Any
"""A pyarrow.Table."""


def write_whole(table: Table, path: Path) -> None:
    """Write one Parquet file: whole or not at all.

    The file takes its place by rename, and a leftover of an interrupted write begins with a dot,
    which dataset readers pass over.

    Raises:
        OSError: the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.writing")
    try:
        with temporary.open("wb") as file:
            pq.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def has_metadata(path: Path, key: bytes, value: str) -> bool:
    """True if the Parquet file is readable and its schema's metadata has ``value`` at ``key``."""
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowException):
        return False
    return bool(metadata.get(key) == value.encode())

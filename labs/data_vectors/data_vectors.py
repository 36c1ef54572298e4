"""Bytes that Kafka's own classes wrote; ``data_vectors.tsv`` says which class of which release."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path


@cache
def _rows() -> dict[tuple[str, str], str]:
    text = Path(__file__).with_name("data_vectors.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return {(row["release"], row["name"]): row["hex"] for row in rows}


def vector_text(name: str, release: str = "4.4.0") -> str:
    """A vector as it stands in the file."""
    return _rows()[release, name]


def vector(name: str, release: str = "4.4.0") -> bytes:
    """The bytes of a vector."""
    return bytes.fromhex(vector_text(name, release))


def vector_names(release: str) -> list[str]:
    """All vectors of a release."""
    return [name for at, name in _rows() if at == release]

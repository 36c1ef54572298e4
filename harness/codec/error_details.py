"""Details of each error code: ``error_codes.tsv``, read on first use.

Names and retriability are those of class Errors in Kafka 4.4.0. The first release of a code is the
first release that gives it this meaning in its table (the documents of 0.7, ErrorMapping of 0.8,
Errors since).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from harness.codec.package_text import package_text

_COLUMNS = "code\tname\tretriable\tfirst_release\tformer_names\tmeaning"


class FormerName(NamedTuple):
    """An earlier name of a code; ``releases`` is one release, or a range: ``0.9-0.10.2``."""

    name: str
    releases: str


class ErrorDetails(NamedTuple):
    """One error code.

    ``retriable``: whether its exception class in Kafka 4.4.0 is a RetriableException.
    ``first_release``: such as ``0.8.0``, ``0.11`` or ``2.4``, the line of releases it came with.
    """

    code: int
    name: str
    retriable: bool
    first_release: str
    former_names: tuple[FormerName, ...]
    meaning: str


@cache
def error_details() -> dict[int, ErrorDetails]:
    """All error codes of Kafka 4.4.0 and before, by number."""
    text = package_text("harness.codec", "error_codes.tsv")
    header, *rows = text.splitlines()
    assert header == _COLUMNS, f"error_codes.tsv has columns {header!r}"
    read = (_read(*row.split("\t")) for row in rows)
    return {one.code: one for one in read}


def _read(
    code: str, name: str, retriable: str, release: str, former: str, meaning: str
) -> ErrorDetails:
    names = [] if former == "-" else [FormerName(*one.split(" ")) for one in former.split(";")]
    return ErrorDetails(int(code), name, retriable == "yes", release, tuple(names), meaning)


def find_error(word: str) -> ErrorDetails | None:
    """The error with this number or name, in any case of letters; former names count too."""
    wanted = word.upper()
    for one in error_details().values():
        if wanted in {str(one.code), one.name, *(old.name.upper() for old in one.former_names)}:
            return one
    return None

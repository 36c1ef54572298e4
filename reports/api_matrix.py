"""API version x target: is it offered, can its answers be decoded, does it behave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ApiVersion:
    """One version of one API on one target.

    `declared`: in the target's ApiVersions answer. `observed`: the target has no such answer (Kafka
    before 0.10) and was seen to serve it. `decodable`: verdict of the checks that decode answers
    strictly; `behaves`: of all other checks at this version; None where there is none.
    `requirements` are (id, verdict), the worst first.
    """

    api_key: int
    api_name: str
    api_version: int
    target: str
    declared: bool
    decodable: str | None
    behaves: str | None
    requirements: tuple[tuple[str, str], ...]
    observed: bool = False


def api_versions(table: Iterable[Mapping[str, Any]]) -> tuple[ApiVersion, ...]:
    """The rows of `api_versions.parquet`."""
    return tuple(
        ApiVersion(
            **{
                **row,
                "requirements": tuple(
                    (said["requirement"], said["verdict"]) for said in row["requirements"]
                ),
            }
        )
        for row in table
    )

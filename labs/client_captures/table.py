"""The row of a captured client: how much its capture has, and how much of it was not read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.capture.capture_file import CaptureFile
from harness.capture.follow import Follower
from labs.client_captures.lines import CapturedClient

COLUMNS = (
    "client",
    "release",
    "broker",
    "packets",
    "requests",
    "responses",
    "bytes behind bodies",
    "bytes passed over",
    "undecodable",
    "unmatched",
)


def row_of(client: CapturedClient, file: Path) -> dict[str, str | int]:
    """Return the row of one capture, by column."""
    capture, follower = CaptureFile(str(file)), Follower()
    behind = 0
    for event in follower.events(capture):
        behind += getattr(event, "left_over", 0)
    totals = follower.totals
    values = (
        *(client.client, client.release, client.broker, capture.counts["packets"]),
        *(totals.requests, totals.responses, behind, totals.skipped_bytes),
        *(totals.undecodable, totals.unmatched),
    )
    return dict(zip(COLUMNS, values, strict=True))


def is_read(row: Mapping[str, str | int]) -> bool:
    """True if every byte of the capture was read."""
    whole = ("bytes passed over", "undecodable", "unmatched")
    return bool(row["requests"]) and not any(row[column] for column in whole)

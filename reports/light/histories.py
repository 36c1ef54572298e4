"""The table of histories: what clients did, thinned where it is very much."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .rows import Row, by, greatest, grouped

MOST_SPANS = 1000
"""Of more spans, done and others apart, each n-th is kept; of faults all."""
_SPAN = (
    *("ordinal", "process", "action", "partition", "outcome"),
    *("began_ms", "ended_ms", "offset", "value", "detail"),
)
_PLACE = ("target", "case", "attempt")


def histories(operations: Iterable[Row]) -> list[Row]:
    """One row a case and attempt. A send is one span, from its beginning to its end."""
    made = [
        {**dict(zip(_PLACE, place, strict=True)), **_history(rows)}
        for place, rows in grouped(operations, *_PLACE).items()
    ]
    return sorted((one for one in made if one["spans"]), key=by(*_PLACE))


def _history(rows: list[Row]) -> Row:
    sends = [row for row in rows if row["action"] == "send"]
    spans = [_send(same) for same in grouped(sends, "process", "partition", "value").values()]
    outcomes = [span["outcome"] for span in spans]
    spans += [_moment(row) for row in rows if row["action"] not in ("send", "final_read")]
    kept, every = _thinned(spans)
    read = [row for row in rows if row["action"] == "final_read"]
    return {
        "sent": len(outcomes),
        "acknowledged": outcomes.count("ok"),
        "failed": outcomes.count("fail"),
        "unknown": outcomes.count("info") + outcomes.count("invoke"),
        "in_log": sum(row["value"] is not None for row in read) if read else None,
        "every": every,
        "spans": sorted(kept, key=by(*_SPAN)),
    }


def _send(rows: list[Row]) -> Row:
    """The span of all rows about one record."""
    ends = [row for row in rows if row["outcome"] != "invoke"]
    return {
        "ordinal": min(row["ordinal"] for row in rows),
        "process": rows[0]["process"],
        "action": "send",
        "partition": rows[0]["partition"],
        "outcome": greatest(ends, "outcome") or "invoke",
        "began_ms": min(row["at_ms"] for row in rows),
        "ended_ms": greatest(ends, "at_ms"),
        "offset": greatest(rows, "offset"),
        "value": rows[0]["value"],
        "detail": greatest(rows, "detail"),
    }


def _moment(row: Row) -> Row:
    span: dict[str, Any] = {name: row[name] for name in _SPAN if name in row}
    return {**span, "began_ms": row["at_ms"], "ended_ms": row["at_ms"]}


def _thinned(spans: list[Row]) -> tuple[list[Row], int]:
    """The spans that are kept, and the greatest of the distances between kept ones."""
    groups: dict[tuple[bool, bool], list[Row]] = {}
    for span in sorted(spans, key=by("ordinal")):
        groups.setdefault((span["action"] == "fault", span["outcome"] == "ok"), []).append(span)
    kept, distances = list[Row](), [1]
    for same in groups.values():
        every = -(-len(same) // MOST_SPANS)
        distances.append(every)
        kept += same[::every]
    return kept, max(distances)

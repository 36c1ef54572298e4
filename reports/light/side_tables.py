"""The tables of what lies beside the results: the wire, faults, defects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ..wire_matrix import DIRECTIONS, STATES
from .rows import Row, by, greatest, grouped

MOST_EVENTS = 200
"""Of very many the Parquet beside the results has all."""
_EVENT = ("ordinal", "at_ms", "what", "link", "connection", "direction", "frame", "rule", "detail")
_SAID = ("requirement", "meaning", "killed", "reason", "problem", "changed")


def wire(seen: Iterable[Row]) -> list[Row]:
    """One row a target, API version and direction: messages, error codes, states of fields."""
    known = [row for row in seen if row["direction"] in DIRECTIONS]
    made = [
        {
            "api_key": key,
            "api_name": greatest(rows, "api_name"),
            "api_version": version,
            "target": target,
            "direction": direction,
            "messages": sum(row["count"] for row in rows if row["what"] == "message"),
            "errors": _errors(rows),
            "fields": _fields(rows),
        }
        for (target, direction, key, version), rows in grouped(
            known, "target", "direction", "api_key", "api_version"
        ).items()
    ]
    return sorted(made, key=by("api_key", "api_version", "target", "direction"))


def _errors(rows: Iterable[Row]) -> list[Row]:
    of_codes = [row for row in rows if row["what"] == "error" and row["error_code"] is not None]
    made = [
        {
            "code": code,
            "name": greatest(same, "error_name") or "",
            "count": sum(row["count"] for row in same),
        }
        for (code,), same in grouped(of_codes, "error_code").items()
    ]
    return sorted(made, key=by("code"))


def _fields(rows: Iterable[Row]) -> list[Row]:
    of_fields = [row for row in rows if row["what"] in STATES]
    made = [
        {"field": name, "what": what, "count": sum(row["count"] for row in same)}
        for (name, what), same in grouped(of_fields, "field", "what").items()
    ]
    return sorted(made, key=by("field", "what"))


def faults(events: Iterable[Row]) -> list[Row]:
    """One row a case and attempt: the first events, in their order, and the number of all."""
    made = []
    for (target, case, attempt), rows in grouped(events, "target", "case", "attempt").items():
        first = [{name: row[name] for name in _EVENT} for row in rows]
        first = sorted((row for row in first if row["ordinal"] < MOST_EVENTS), key=by(*_EVENT))
        if first:
            place = {"target": target, "case": case, "attempt": attempt}
            made.append({**place, "count": len(rows), "events": first})
    return sorted(made, key=by("target", "case", "attempt"))


def defects(tables: Iterable[Mapping[str, Any]]) -> list[Row]:
    """One row a defect and target; of several tables the newest counts."""
    rows = [
        {"target": table["target"], "at": table["at"], **row}
        for table in tables
        for row in table["defects"]
    ]
    made = []
    for (target, defect), same in grouped(rows, "target", "defect").items():
        newest = max(same, key=lambda row: (datetime.fromisoformat(row["at"]), row["requirement"]))
        made.append({"defect": defect, "target": target, **{key: newest[key] for key in _SAID}})
    return sorted(made, key=by("requirement", "defect", "target"))

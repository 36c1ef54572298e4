"""The defect table as a whole, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass

from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.outcome import RowOutcome
from labs.defects.seen_on import SHOWN

JSON_VERSION = 1


@dataclass(frozen=True, slots=True)
class DefectTable:
    """All rows, and the judged MUSTs that have no defect (known only of a complete table)."""

    target: str
    outcomes: list[RowOutcome]
    unproved: list[str]
    unseen: list[str]  # defects of requirements that this target does not serve
    complete: bool
    at: str
    alone: int | None = None  # under so many of them the whole scope was judged; None: all

    @property
    def good(self) -> bool:
        return all(row.killed for row in self.outcomes) and not (self.unproved or self.blind)

    @property
    def blind(self) -> list[str]:
        """Defects that this target has to show (see :data:`SHOWN`) and does not."""
        if self.target not in SHOWN:
            return []
        shown = {defect.name for defect in ALL_DEFECTS if SHOWN[self.target](defect)}
        return [one for one in self.unseen if one.split()[-1] in shown]

    def markdown(self) -> str:
        """The table in Markdown, with one row per defect."""
        lines = [f"# Defect table on `{self.target}`", "", "| requirement | defect | killed | by |"]
        lines.append("|---|---|---|---|")
        for row in self.outcomes:
            by = " ".join((row.problem or row.reason).split())[:160].replace("|", "\\|")
            killed = "yes" if row.killed else "**no**"
            lines.append(f"| {row.defect.requirement} | {row.defect.meaning} | {killed} | {by} |")
        count = sum(outcome.killed for outcome in self.outcomes)
        lines += ["", f"{count} of {len(self.outcomes)} defects killed by their own check."]
        if self.alone is not None:
            lines.append(f"Who else notices was looked at for {self.alone} of them.")
        for row in self.outcomes:
            if row.first_problem:
                name = f"{row.defect.requirement} {row.defect.name}"
                lines.append(f"At a second look: {name}; at first: {row.first_problem}")
        if self.unseen:
            lines.append(f"Not supported by this target, so not seen: {', '.join(self.unseen)}.")
        if self.blind:
            lines.append(f"**To be seen on this target, and not seen**: {', '.join(self.blind)}.")
        for row in self.outcomes:
            if not row.killed:  # again: the end of a long log may be all that is kept of it
                lines.append(
                    f"**Not killed**: {row.defect.requirement} {row.defect.name}: {row.problem}"
                )
        if self.unproved:
            lines.append(f"Tested, unproved (no defect): {', '.join(self.unproved)}.")
        return "\n".join(lines) + "\n"

    def to_json(self) -> str:
        """The table as JSON; docs/results.md publishes the form, a report reads it."""
        rows = [
            {
                "requirement": row.defect.requirement,
                "defect": row.defect.name,
                "meaning": row.defect.meaning,
                "killed": row.killed,
                "reason": row.reason,
                "problem": row.problem,
                "first_problem": row.first_problem,
                "changed": [
                    {"requirement": name, "was": was, "now": now}
                    for name, (was, now) in row.changed.items()
                ],
            }
            for row in self.outcomes
        ]
        table = {
            "schema_version": JSON_VERSION,
            "target": self.target,
            "at": self.at,
            "complete": self.complete,
            "defects": rows,
            "unseen": self.unseen,
            "unproved": self.unproved,
        }
        return json.dumps(table, indent=1) + "\n"

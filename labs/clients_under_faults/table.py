"""All runs of one target as a page, and for programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from harness.histories.history import OperationOutcome
from harness.histories.judgement import HistoryVerdict
from labs.clients_under_faults.known_runs import known
from labs.clients_under_faults.one_client import release_of
from labs.clients_under_faults.run import FaultRun

JSON_VERSION = 1
COLUMNS = (
    "client", "runs", "valid", "invalid", "unknown", "records", "acknowledged", "given up",
    "refused", "faults struck", "median s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FaultTable:
    """``seconds``: of the whole, with runs side by side."""

    target: str
    runs: list[FaultRun]
    idempotent: bool
    seconds: float

    @property
    def good(self) -> bool:
        """Every run is valid, or shows what is known of an idempotent producer of that client."""
        return all(
            run.judgement.verdict is HistoryVerdict.VALID or self._known(run) for run in self.runs
        )

    def _known(self, run: FaultRun) -> str | None:
        return known(run) if self.idempotent else None

    def _of(self, client: str) -> list[FaultRun]:
        return [run for run in self.runs if run.client == client]

    @property
    def _clients(self) -> list[str]:
        return list(dict.fromkeys(sorted(run.client for run in self.runs)))

    def markdown(self) -> str:
        """A row a client, then what was found."""
        kind = "idempotent" if self.idempotent else "not idempotent"
        lines = [
            f"# Clients under faults on `{self.target}`, producers {kind}",
            "",
            f"| {' | '.join(COLUMNS)} |",
            "|---" * len(COLUMNS) + "|",
            *(self._row(client) for client in self._clients),
            "",
        ]
        for run in sorted(self.runs, key=lambda one: (one.client, one.schedule.seed)):
            if run.judgement.verdict is not HistoryVerdict.VALID:
                found = "; ".join(map(str, run.judgement.findings)) or run.judgement.why
                name = self._known(run)
                told = f" (known: {name})" if name else ""
                lines.append(f"- {run.client}, seed {run.schedule.seed}{told}: {found[:500]}")
        lines += self._reasons()
        lines += ["", f"{len(self.runs)} runs in {self.seconds:.0f} s."]
        return "\n".join(lines) + "\n"

    def _reasons(self) -> list[str]:
        """Of sends that were not acknowledged, most frequent first."""
        found: Counter[tuple[str, str]] = Counter()
        for run in self.runs:
            for why, count in run.why_not_sent.items():
                found[run.client, why] += count
        told = [f"- {count} x {client}, {why}" for (client, why), count in found.most_common()]
        return ["", "Sends that were not acknowledged:", "", *told] if told else []

    def _row(self, client: str) -> str:
        runs = self._of(client)
        verdicts = Counter(run.judgement.verdict for run in runs)
        sends = {outcome: sum(run.sends[outcome] for run in runs) for outcome in OperationOutcome}
        cells = [
            release_of(client),
            len(runs),
            *(
                verdicts[verdict]
                for verdict in (
                    HistoryVerdict.VALID,
                    HistoryVerdict.INVALID,
                    HistoryVerdict.UNKNOWN,
                )
            ),
            *(
                sends[one]
                for one in (
                    OperationOutcome.INVOKE,
                    OperationOutcome.OK,
                    OperationOutcome.INFO,
                    OperationOutcome.FAIL,
                )
            ),
            sum(run.struck for run in runs),
            f"{median(run.seconds for run in runs):.1f}",
        ]
        return f"| {' | '.join(map(str, cells))} |"

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": JSON_VERSION,
            "target": self.target,
            "at": datetime.now(UTC).isoformat(),
            "clients": {client: release_of(client) for client in self._clients},
            "idempotent": self.idempotent,
            "seconds": round(self.seconds, 1),
            "runs": [run.to_json() for run in self.runs],
        }

"""``python -m tests.defects --target SPEC``: run the defect table and write it down.

Exit 0: every defect is killed and every judged MUST has one; 1: not so; 2: usage.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path

import click
from rich.console import Console

from harness.conformance.summary import RunSummary
from harness.conformance.verdict import Verdict
from harness.targets.errors import TargetError
from harness.targets.spec import parse_target
from tests.defects.all_defects import ALL_DEFECTS
from tests.defects.defect import Defect, Where
from tests.defects.seen_on import CLUSTER_SEEN_ON, KAFKA_ALONE, REFERENCE, SHOWN
from tests.defects.table import Outcome, Suites, files_of, judge

JSON_VERSION = 1
NOT_ASKED = (Verdict.NOT_SUPPORTED, Verdict.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Table:
    """All rows, and the judged MUSTs that have no defect (known only of a complete table)."""

    target: str
    outcomes: list[Outcome]
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
        """One row a defect."""
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
            if not row.killed:  # said again: the end of a long log may be all that is kept of it
                lines.append(
                    f"**Not killed**: {row.defect.requirement} {row.defect.name}: {row.problem}"
                )
        if self.unproved:
            lines.append(f"Tested, unproved (no defect): {', '.join(self.unproved)}.")
        return "\n".join(lines) + "\n"

    def to_json(self) -> str:
        """The same for programs; docs/results.md publishes the form, a report reads it."""
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


def sampled(defects: Sequence[Defect], count: int, seed: int) -> list[Defect]:
    """``count`` of them: first one of each area, then more, in an order that the seed decides.

    What no built-in broker shows is always among them.
    """
    shuffled = list(defects)
    random.Random(seed).shuffle(shuffled)
    rank: Counter[str] = Counter()
    ranked = []
    for defect in shuffled:
        is_only_here = defect.name in KAFKA_ALONE
        ranked.append((-1 if is_only_here else rank[defect.area], defect))
        rank[defect.area] += 1
    ranked.sort(key=lambda pair: pair[0])
    kept = {defect.name for _, defect in ranked[:count]}
    return [defect for defect in defects if defect.name in kept]


def unproved(baselines: Iterable[RunSummary], proved: Iterable[str]) -> list[str]:
    """MUST requirements that are judged and have no defect."""
    known = set(proved)
    judged = {
        name
        for baseline in baselines
        for name, one in baseline.requirements.items()
        if one.level == "MUST" and one.verdict is Verdict.PASSED
    }
    return sorted(judged - known)


@click.command()
@click.option("--target", default="reference", help="The broker behind the defects.")
@click.option("--requirement", "globs", default=("*",), show_default=True, multiple=True,
              help="Only defects of these requirements; may be repeated.")  # fmt: skip
@click.option("--joined", is_flag=True,
              help="Only defects of brokers that virtual ones join.")  # fmt: skip
@click.option("--built-in/--on-the-wire", default=None,
              help="Only wrong functions of the built-in broker, or all but those.")  # fmt: skip
@click.option("--jobs", default=2, show_default=True, help="Defects at the same time.")
@click.option("--versions", type=click.Choice(["all", "ends"]), default="ends", show_default=True,
              help="At which versions the suites run under each defect.")  # fmt: skip
@click.option("--scope", type=click.Choice(["area", "all"]), default="area", show_default=True,
              help="Who else must not notice: the rest of the area, or of all areas.")  # fmt: skip
@click.option("--sample", type=int, default=None, metavar="N",
              help="Only N defects, drawn by the seed from all areas.")  # fmt: skip
@click.option("--alone", type=int, default=None, metavar="N",
              help="Judge the whole scope under N of them, drawn by the seed; under the others "
              "their own requirement.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seed of what is drawn.")
@click.option("--out", default="results/defects", type=click.Path(path_type=Path))
def main(
    target: str,
    globs: tuple[str, ...],
    joined: bool,
    built_in: bool | None,
    jobs: int,
    versions: str,
    scope: str,
    sample: int | None,
    alone: int | None,
    seed: int,
    out: Path,
) -> None:
    """Run every defect in front of TARGET and say which check noticed it."""
    console = Console(stderr=True)
    for glob in globs:
        if not any(fnmatch(d.requirement, glob) for d in ALL_DEFECTS):
            raise click.UsageError(f"no defect is made for {glob!r}")
    is_cluster = has_several_nodes(target)
    known = [defect for defect in ALL_DEFECTS if defect.cluster == is_cluster]
    known = [defect for defect in known if strikes(defect, target)]
    if built_in is False:  # what is on the wire is a table of its own
        known = [defect for defect in known if not defect.built_in]
    matching = [d for d in known if any(fnmatch(d.requirement, glob) for glob in globs)]
    matching = [defect for defect in matching if defect.joined or not joined]
    matching = [defect for defect in matching if defect.built_in or not built_in]
    if not matching:
        raise click.UsageError(
            "no such defect strikes this target: some strike no broker (--target reference has "
            "them), others a cluster alone (--target kafka:RELEASE,nodes=3)"
        )
    chosen = matching if sample is None else sampled(matching, sample, seed)
    drawn = None if alone is None else {one.name for one in sampled(chosen, alone, seed)}
    try:
        with tempfile.TemporaryDirectory(prefix="defects-") as folder:
            place = Path(folder)
            with parse_target(target, log_dir=place / "logs") as running:
                areas = _areas(chosen) if scope == "area" and chosen != known else ()
                suites = Suites(target, running, place, versions, scope, areas, drawn)
                table = _run(suites, chosen, jobs, chosen == known, console)
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    out.mkdir(parents=True, exist_ok=True)
    name = target.replace(":", "-")
    (out / f"{name}.md").write_text(table.markdown(), "utf-8")
    (out / f"{name}.json").write_text(table.to_json(), "utf-8")
    click.echo(table.markdown())
    sys.exit(0 if table.good else 1)


def strikes(defect: Defect, target: str) -> bool:
    """What strikes no broker is the same whichever is named: it is seen with the built-in one, in
    which are those of its own functions, and which is not asked what it cannot show."""
    if defect.where is Where.BUILT_IN:
        return target in (REFERENCE, CLUSTER_SEEN_ON)
    if target in (REFERENCE, CLUSTER_SEEN_ON) and defect.name in KAFKA_ALONE:
        return False
    return target == REFERENCE or defect.where is not Where.OFFLINE


def has_several_nodes(spec: str) -> bool:
    """Whether the target that a string names is a cluster."""
    return any(word.startswith("nodes=") and word != "nodes=1" for word in spec.split(","))


def _areas(chosen: Iterable[Defect]) -> tuple[str, ...]:
    return tuple(sorted({defect.area for defect in chosen}))


def _run(
    suites: Suites, chosen: list[Defect], jobs: int, complete: bool, console: Console
) -> Table:
    needed = {defect.where for defect in chosen}
    built_in = _areas(defect for defect in chosen if defect.where is Where.BUILT_IN)
    ways, again = _ways(suites, built_in), _ways(_again(suites), built_in)
    baselines = {where: _without_defect(run) for where, run in ways.items() if where in needed}
    asked = [d for d in chosen if _is_asked(baselines[d.where], d.requirement)]

    def outcome_of(defect: Defect) -> Outcome:
        before, watched = baselines[defect.where], suites.watched(defect)
        files = files_of(before, watched)
        first = judge(defect, before, ways[defect.where](defect, files), watched)
        if first.killed:
            return first
        # Chance may have had a hand in it: another look, and the table tells of both.
        second = judge(defect, before, again[defect.where](defect, files), watched)
        return replace(second, first_problem=first.problem)

    rows = {}
    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(outcome_of, defect) for defect in asked]):
            row = future.result()
            rows[row.defect.name] = row
            mark = "killed" if row.killed else f"NOT KILLED ({row.problem})"
            mark += f", at first: {row.first_problem}" if row.first_problem else ""
            console.print(f"{row.defect.requirement} {row.defect.name}: {mark}", highlight=False)
    proved = (d.requirement for d in chosen)
    open_ids = unproved(baselines.values(), proved) if complete else []
    unseen = [f"{d.requirement} {d.name}" for d in chosen if d not in asked]
    at = datetime.now(UTC).isoformat()
    alone = None if suites.alone is None else len(suites.alone & rows.keys())
    return Table(suites.spec, [rows[d.name] for d in asked], open_ids, unseen, complete, at, alone)


def _again(suites: Suites) -> Suites:
    return replace(suites, out=suites.out / "again")


def _ways(suites: Suites, built_in: tuple[str, ...]) -> dict[Where, Callable[..., RunSummary]]:
    """``built_in``: areas of the defects of the built-in broker, which have few."""
    few = replace(suites, areas=built_in) if suites.scope == "area" else suites
    return {
        Where.SHARED: suites.run,
        Where.PRIVATE: suites.run_private,
        Where.OFFLINE: suites.run_offline,
        Where.BUILT_IN: few.run_built_in,
    }


def _without_defect(run: Callable[[Defect | None], RunSummary]) -> RunSummary:
    baseline = run(None)
    silent = baseline.complete and all(
        one.verdict in NOT_ASKED for one in baseline.requirements.values()
    )
    if baseline.exit_code != 0 and not silent:
        raise click.ClickException("\n".join(["without any defect:", *baseline.sentences()]))
    return baseline


def _is_asked(baseline: RunSummary, requirement: str) -> bool:
    """Whether the target serves what the requirement is about, and lets us ask; else no defect
    can show."""
    found = baseline.requirements.get(requirement)
    return found is None or found.verdict not in NOT_ASKED


if __name__ == "__main__":
    main()

"""``kafka-conformance lab mutate``: judge wrong brokers that are made from the source."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from harness.conformance.mutation_score import SCORE_FILE
from labs.defects.row_session import RowSession
from labs.mutation import executed, noticed, unread_fields
from labs.mutation.equivalent import KnownEquivalents
from labs.mutation.judging_rooms import ROOMS, RoomSession, room_mutants
from labs.mutation.line_map import LineMap, functions_of, of_same_functions
from labs.mutation.mapping_run import map_lines
from labs.mutation.mutant import Mutant
from labs.mutation.mutant_pool import MutantPool
from labs.mutation.mutant_report import (
    MutantReport,
    OtherSample,
    judged_in,
    noticed_elsewhere,
    survivors_in,
)
from labs.mutation.mutant_worker import MutantWork
from labs.mutation.population import ONE_NODE, PARTS, every_mutant, of_part, sample, suites_of
from labs.mutation.published import counts_of, publish_score, publish_survivors
from labs.mutation.related_tests import JudgedSubject, is_related, judged_by, relation
from labs.mutation.response_fields import FIELD, field_mutants, is_about
from labs.mutation.score import summary
from labs.mutation.verdicts import Fate, JudgedMutant


@click.command()
@click.option("--target", "spec", default=ONE_NODE, show_default=True, metavar="SPEC",
              help="reference, reference,disk or reference,nodes=3.")  # fmt: skip
@click.option("--room", type=click.Choice(list(ROOMS)), help="Instead of the broker, a package "
              "that judges without one, by its own unit tests.")  # fmt: skip
@click.option("--part", type=click.Choice(list(PARTS)), help="Draw from the modules of this "
              "feature alone; its score is published apart.")  # fmt: skip
@click.option("--count", default=50, show_default=True, type=click.IntRange(1),
              help="The size of the random sample.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Of the sample.")
@click.option("--mutant", "names", multiple=True, help="This one alone, by its name.")
@click.option("--noticed", "again", is_flag=True,
              help="Draw from the mutants that an earlier run noticed, and run the test that "
              "noticed each; exit with 1 if one survives.")  # fmt: skip
@click.option("--fields", is_flag=True,
              help="Instead of the source, change one field of the responses of one API; exit "
              "with 1 if no check notices it, and the table of such fields lacks it.")  # fmt: skip
@click.option("--record", is_flag=True, help="Add the noticed mutants to the recorded ones, "
              "and note the functions that the target's tests execute.")  # fmt: skip
@click.option("--publish", is_flag=True, help="Replace the published score of this target, and "
              "its survivors, by those of this sample.")  # fmt: skip
@click.option("--jobs", default=3, show_default=True, type=click.IntRange(1))
@click.option("--survivors-of", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              metavar="FILE", help="Instead of a sample, the survivors in a file that --out has "
              "written for another target.")  # fmt: skip
@click.option("--also", "others", multiple=True, metavar="FILE",
              type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="The results of the survivors at another target: what its tests notice counts "
              "as noticed.")  # fmt: skip
@click.option("--lines", "map_file", type=click.Path(path_type=Path, dir_okay=False),
              help="The tests by line; made and kept in this file if it is not there.")  # fmt: skip
@click.option("--other-lines", "other_files", multiple=True, metavar="FILE",
              type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="The tests by line of another target; mutants of lines that only its tests "
              "execute are left to its samples.")  # fmt: skip
@click.option("--every-version", is_flag=True,
              help="Run the tests that execute a mutant's line at every version, not only at the "
              "ends of each range.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path),
              help="A JSON line for each mutant here; the mutants of a file that is there are not "
              "judged again.")  # fmt: skip
def main(
    spec: str, room: str | None, part: str | None, count: int, seed: int, names: tuple[str, ...],
    again: bool, fields: bool, record: bool, publish: bool, jobs: int, map_file: Path | None,
    other_files: tuple[Path, ...], out: Path | None, survivors_of: Path | None,
    others: tuple[Path, ...], every_version: bool,
) -> None:  # fmt: skip
    """Make wrong brokers out of the built-in one, and let the suites judge each.

    A mutant differs from the built-in broker in one place of one function. The tests that execute
    that place run, until a check fails. See docs/teeth.md.
    """
    spec = room or spec
    every = room_mutants(ROOMS[room]) if room else field_mutants() if fields else every_mutant()
    report = MutantReport(KnownEquivalents(every, spec), out)
    began_s = time.monotonic()

    def judge(session: RowSession) -> None:
        with tempfile.TemporaryDirectory(prefix="kafka-conformance-mutants-") as place:
            if again:
                work = _work_again(every, count, seed)
            else:
                chosen = _chosen(every, names, survivors_of)
                chosen = chosen or _sample(every, spec, part, count, seed)
                lines = _lines(session, spec, map_file, Path(place))
                if record and not fields:
                    _record_executed(spec, lines)
                elsewhere = [LineMap.read(file) for file in other_files]
                judged = judged_by(session.items)
                work = _work(_left(report, chosen), lines, judged, report, elsewhere)
                if every_version:
                    work = _at_every_version(work, [item.nodeid for item in session.items])
            MutantPool(session, spec, Path(place), jobs, report.add).run(work)

    if room:
        drawn = _named(every, names) or random.Random(seed).sample(every, min(count, len(every)))
        RoomSession(_left(report, drawn), jobs, report).judge(ROOMS[room].tests)
    else:
        versions = "all" if every_version else "ends"
        RowSession(judge).collect(suites_of(spec), ["--target", spec, "--versions", versions])
    seen = [one for file in others for one in judged_in(file)]
    report.judged = noticed_elsewhere(report.judged, seen)
    for text in summary(report.judged, time.monotonic() - began_s):
        click.echo(text)
    if record:
        noticed.write([*noticed.read(), *noticed.rows_of(report.judged, every)])
    if publish:
        of = spec if part is None else f"{spec} ({part})"
        publish_score(counts_of(report.judged, of, seed), of, SCORE_FILE)
        publish_survivors(report.judged, every, of)
    unread = list(unread_fields.problems(report.judged, unread_fields.read())) if fields else []
    for problem in unread:
        click.echo(problem)
    survived = again and any(one.verdict is Fate.SURVIVED for one in report.judged)
    sys.exit(int(survived or bool(unread)))


def _left(report: MutantReport, chosen: Sequence[Mutant]) -> list[Mutant]:
    try:
        return report.left_of(chosen)
    except OtherSample as problem:
        raise click.UsageError(f"{problem}: name another file by --out") from problem


def _sample(
    every: Sequence[Mutant], spec: str, part: str | None, count: int, seed: int
) -> list[Mutant]:
    drawn_from = every if part is None else of_part(every, part)
    return sample(drawn_from, spec, count, seed, executed.read())


def _record_executed(spec: str, lines: LineMap) -> None:
    executed.write(executed.with_target(executed.read(), spec, lines.by_line))


def _chosen(
    every: Sequence[Mutant], names: Sequence[str], survivors_of: Path | None
) -> list[Mutant]:
    left = survivors_in(survivors_of) if survivors_of is not None else []
    return _named(every, [*names, *(one.name for one in left)])


def _named(every: Sequence[Mutant], names: Sequence[str]) -> list[Mutant]:
    known = {one.name: one for one in every}
    if missing := [name for name in names if name not in known]:
        raise click.UsageError(f"there is no mutant {missing[0]}: the source has changed")
    return [known[name] for name in names]


def _lines(session: RowSession, spec: str, file: Path | None, place: Path) -> LineMap:
    if file is not None and file.exists():
        return LineMap.read(file)
    made = map_lines(session, session.items, spec, place)
    if file is not None:
        made.write(file)
    return made


def _work(
    mutants: Sequence[Mutant],
    lines: LineMap,
    judged: Mapping[str, JudgedSubject],
    report: MutantReport,
    others: Sequence[LineMap],
) -> list[MutantWork]:
    """Return the work. Reports what no test executes.

    Tests of the mutated API come first, then those of the module's areas; of these, those that
    execute few lines.
    """
    few = lines.lines_by_test()
    work = []
    for one in mutants:
        path = one.area_path.replace(".", "/") + ".py"
        if one.operator == FIELD:
            tests = lines.tests_of_file(path)
            tests.sort(key=lambda test: (not is_about(test, one), few[test]))
        else:
            tests = lines.tests_of([f"{path}:{one.line}"])
            tests.sort(key=lambda test: (relation(judged.get(test), one), few[test]))
        if tests:
            related = [each for each in tests if is_related(judged.get(each), one)]
            work.append(MutantWork(one, tuple(tests), functions_of(related)))
        elif not any(other.tests_of([f"{path}:{one.line}"]) for other in others):
            report.add(JudgedMutant(one, Fate.NOT_REACHED))
    return work


def _work_again(every: Sequence[Mutant], count: int, seed: int) -> list[MutantWork]:
    """Return a drawn part of the recorded mutants that the source still has."""
    there = dict(noticed.stable_names(every))
    rows = [row for row in noticed.read() if row.mutant in there]
    click.echo(f"{len(rows)} of {len(noticed.read())} recorded mutants are in the source")
    drawn = random.Random(seed).sample(rows, min(count, len(rows)))
    cases = [(there[row.mutant], f"suites/{row.case}") for row in drawn]
    return [MutantWork(mutant, (case,), functions_of([case])) for mutant, case in cases]


def _at_every_version(work: Sequence[MutantWork], there: Sequence[str]) -> list[MutantWork]:
    return [replace(one, tests=tuple(of_same_functions(one.tests, there))) for one in work]


if __name__ == "__main__":
    main()

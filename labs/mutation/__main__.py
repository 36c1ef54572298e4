"""``kafka-conformance lab mutate``: judge wrong brokers that nobody has planned."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from labs.defects.row_session import RowSession
from labs.mutation.enumeration import modules, mutants_of
from labs.mutation.line_map import LineMap
from labs.mutation.mapping_run import map_lines
from labs.mutation.mutant import Mutant
from labs.mutation.mutant_pool import MutantPool
from labs.mutation.mutant_worker import Work
from labs.mutation.verdicts import NOTICED, Judged, Verdict

SUITES = {"reference": ("suites/protocol",), "reference,disk": ("suites/durability",)}
CLUSTER = ("suites/replication", "suites/durability/private")


@click.command()
@click.option("--target", "spec", default="reference", show_default=True, metavar="SPEC",
              help="reference, reference,disk or reference,nodes=3.")  # fmt: skip
@click.option("--count", default=50, show_default=True, type=click.IntRange(1),
              help="The size of the random sample.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Of the sample.")
@click.option("--mutant", "names", multiple=True, help="This one alone, by its name.")
@click.option("--jobs", default=4, show_default=True, type=click.IntRange(1))
@click.option("--lines", "map_file", type=click.Path(path_type=Path, dir_okay=False),
              help="The tests by line; made and kept in this file if it is not there.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), help="A JSON line for each mutant here.")
def main(
    spec: str, count: int, seed: int, names: tuple[str, ...], jobs: int,
    map_file: Path | None, out: Path | None,
) -> None:  # fmt: skip
    """Make wrong brokers out of the built-in one, and let the suites judge each."""
    chosen = _chosen(names, count, seed)
    began_s = time.monotonic()
    judged: list[Judged] = []

    def report(one: Judged) -> None:
        judged.append(one)
        click.echo(line_of(one))
        if out is not None:
            with out.open("a") as file:
                file.write(json.dumps(asdict(one)) + "\n")

    def work(session: RowSession) -> None:
        with tempfile.TemporaryDirectory(prefix="kafka-conformance-mutants-") as place:
            lines = _lines(session, spec, map_file, Path(place))
            MutantPool(session, spec, Path(place), jobs, report).run(_work(chosen, lines, report))

    suites = SUITES.get(spec, CLUSTER)
    RowSession(work).collect(suites, ["--target", spec, "--versions", "ends"])
    for text in summary(judged, time.monotonic() - began_s):
        click.echo(text)
    sys.exit(0)


def _chosen(names: Sequence[str], count: int, seed: int) -> list[Mutant]:
    every = [one for module, file in modules() for one in mutants_of(module, file.read_text())]
    if names:
        known = {one.name: one for one in every}
        if missing := [name for name in names if name not in known]:
            raise click.UsageError(f"there is no mutant {missing[0]}: the source has changed")
        return [known[name] for name in names]
    return random.Random(seed).sample(every, min(count, len(every)))


def _lines(session: RowSession, spec: str, file: Path | None, place: Path) -> LineMap:
    if file is not None and file.exists():
        return LineMap.read(file)
    made = map_lines(session, session.items, spec, place)
    if file is not None:
        made.write(file)
    return made


def _work(mutants: Iterable[Mutant], lines: LineMap, report: object) -> list[Work]:
    few = lines.lines_by_test()
    work = []
    for one in mutants:
        path = one.area_path.replace(".", "/") + ".py"
        tests = lines.tests_of([f"{path}:{one.line}"])
        if tests:
            work.append(Work(one, tuple(sorted(tests, key=few.__getitem__))))
        elif callable(report):
            report(Judged(one, Verdict.NOT_REACHED))
    return work


def line_of(one: Judged) -> str:
    """Return a line of text about a mutant."""
    change = f"{one.mutant.before} -> {one.mutant.after}".replace("\n", " ")
    why = f" {one.requirement}: {one.reason[:100]}" if one.requirement else ""
    return f"{one.verdict.name} {one.mutant.name} {one.mutant.function} ({change[:120]}){why}"


def summary(judged: Sequence[Judged], seconds: float) -> list[str]:
    """Return the score, by verdict and by operator."""
    counts = Counter(one.verdict for one in judged)
    noticed = sum(counts[one] for one in NOTICED)
    lines = [f"{noticed} of {len(judged)} noticed in {seconds:.0f} s"]
    lines += [f"  {verdict.value}: {counts[verdict]}" for verdict in Verdict if counts[verdict]]
    every = Counter(one.mutant.operator for one in judged)
    good = Counter(one.mutant.operator for one in judged if one.verdict in NOTICED)
    return [*lines, *(f"  {name}: {good[name]} of {every[name]}" for name in sorted(every))]


if __name__ == "__main__":
    main()

"""The matrix of clients and brokers, as text: a table of pairs, then what did not pass, and why."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.commands.client_pairs import ClientPair
from harness.commands.table import print_table
from harness.conformance.catalogue import load_catalogue
from harness.conformance.summary import RequirementSummary
from harness.conformance.verdict import Verdict

NO_RESULT = "no result"


def print_matrix(pairs: Sequence[ClientPair]) -> None:
    """Print a row for each client and a column for each target, and the reasons."""
    targets = list(dict.fromkeys(pair.spec for pair in pairs))
    cells: dict[str, dict[str, str]] = {}
    for pair in pairs:
        cells.setdefault(pair.client.label, {})[pair.spec] = _counts(pair)
    rows = [(label, *(of.get(spec, "-") for spec in targets)) for label, of in cells.items()]
    print_table(("client", *targets), rows)
    for label in cells:
        _print_requirements(label, [pair for pair in pairs if pair.client.label == label])
    for line in _reasons(pairs):
        click.echo(line)


def _counts(pair: ClientPair) -> str:
    """``28 passed, 1 failed``."""
    summary = pair.judged.summary
    if summary is None:
        return NO_RESULT
    shown = [(verdict, summary.counts[verdict]) for verdict in (Verdict.PASSED, *Verdict)]
    found = {verdict: number for verdict, number in shown if number or verdict is Verdict.PASSED}
    return ", ".join(
        f"{number} {verdict.value.replace('_', ' ')}" for verdict, number in found.items()
    )


def _print_requirements(label: str, pairs: Sequence[ClientPair]) -> None:
    """A row for each requirement that some pair of the client did not pass."""
    verdicts = [
        {name: one.verdict.value for name, one in pair.judged.summary.requirements.items()}
        if pair.judged.summary
        else {}
        for pair in pairs
    ]
    names = sorted({name for one in verdicts for name in one})
    rows = [
        (name, *(one.get(name, "-") for one in verdicts))
        for name in names
        if any(one.get(name) != Verdict.PASSED for one in verdicts)
    ]
    if rows:
        print_table(("requirement", *(pair.spec for pair in pairs)), rows, label)


def _reasons(pairs: Sequence[ClientPair]) -> list[str]:
    catalogue = load_catalogue()
    lines = []
    for pair in pairs:
        here = f"{pair.client.label} on {pair.spec}"
        summary = pair.judged.summary
        if summary is None or pair.judged.problem:
            lines.append(f"{here}: {pair.judged.problem or NO_RESULT}")
        lines.append(f"{here}: asked first at {pair.at}, {pair.own_failures} cases fail there")
        lines.append(f"{here}: {pair.judged.run_dir}")
        for name, one in summary.requirements.items() if summary else ():
            if text := text_of(one):
                statement = catalogue.requirement(name).statement
                lines.append(f"{here}: {name} {one.verdict.value}: {text} ({statement})")
    return lines


def text_of(found: RequirementSummary) -> str:
    """The first line of the reason of the first check that has the verdict; empty if passed."""
    if found.verdict is Verdict.PASSED:
        return ""
    first = next(check for check in found.checks if check.verdict is found.verdict)
    return first.text.partition("\n")[0]

"""``kafka-conformance diff``: the same conversations with two brokers, and what differs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count, groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from harness.client.errors import BrokerMisbehaved
from harness.client.placeholder_versions import served_ranges
from harness.codec.apis import APIS
from harness.codec.versions import VersionRange
from harness.conformance.harmless_requests import Safety
from harness.differential.comparison import (
    ComparedCounts,
    ConversationComparison,
    FoundDifference,
    compare_many,
)
from harness.differential.conversation import Conversation, ConversationError, from_json, to_json
from harness.differential.generator import Ranges, conversations, shared_versions
from harness.differential.player import Player, answer_limit_ms
from harness.sweep.requests import safety_of
from harness.targets.errors import TargetError
from harness.targets.info import TargetInfo, probe
from harness.targets.spec import parse_target
from harness.targets.target import OWN_BROKER, Target

EXIT_DIFFERENT, EXIT_NOT_COMPARED = 1, 3
WIDTH = 160


@click.command("diff")
@click.option("--target", "specs", multiple=True, required=True, metavar="SPEC",
              help="A broker that is started for this; give two.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Of all conversations.")
@click.option("--exchanges", default=1000, show_default=True, type=click.IntRange(1),
              help="How many requests to send to each.")  # fmt: skip
@click.option("--differences", "most", default=1, show_default=True, type=click.IntRange(1),
              help="Go on until so many fields differ.")  # fmt: skip
@click.option("--api", "names", multiple=True, metavar="NAME",
              help="Only these APIs, and what prepares for them; may be repeated.")  # fmt: skip
@click.option("--play", "file", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="Play this conversation of an earlier run, and nothing else.")  # fmt: skip
@click.option("--out", default=Path("results/differential"), show_default=True,
              type=click.Path(path_type=Path, file_okay=False),
              help="Folder for the conversations in which something differs.")  # fmt: skip
def diff_command(
    specs: tuple[str, ...],
    seed: int,
    exchanges: int,
    most: int,
    names: tuple[str, ...],
    file: Path | None,
    out: Path,
) -> None:
    """Hold the same conversations with two brokers and show the first answer that differs.

    Requests are drawn from a seed, for every API and version that both serve and that cannot harm
    others. A difference is shrunk to the least conversation that shows it and written to a file.
    What brokers may do differently is left out by rules that are listed, see docs/differential.md.

    \b
    Exit codes: 0 no difference, 1 a difference, 2 wrong usage, 3 they could not be compared.
    """
    played = _read(file) if file else None
    places = count()

    def report(found: FoundDifference) -> None:
        _tell(found, specs, _write(found, out, next(places)))

    with TemporaryDirectory(prefix="kafka-conformance-diff-") as logs:
        targets = [_parse(spec, Path(logs) / str(n)) for n, spec in enumerate(specs)]
        if len(targets) != 2:
            raise click.UsageError(f"two targets are compared, not {len(targets)}")
        try:
            with ExitStack() as started:
                found = _run(started, targets, seed, exchanges, most, names, played, report)
        except (TargetError, BrokerMisbehaved) as problem:
            click.echo(f"Error: {problem}", err=True)
            sys.exit(EXIT_NOT_COMPARED)
    sys.exit(EXIT_DIFFERENT if found else 0)


def _read(file: Path) -> Conversation:
    try:
        return from_json(file.read_text("utf-8"))
    except (ConversationError, OSError, UnicodeDecodeError) as problem:
        raise click.UsageError(f"{file}: {problem}") from problem


def _parse(spec: str, logs: Path) -> Target:
    try:
        target = parse_target(spec, log_dir=logs)
    except TargetError as problem:
        raise click.UsageError(str(problem)) from problem
    if OWN_BROKER not in target.capabilities:
        raise click.UsageError(f"{spec}: only brokers that we start ourselves are compared")
    return target


# -- the run ---------------------------------------------------------------------------------------


def _run(
    started: ExitStack,
    targets: Sequence[Target],
    seed: int,
    exchanges: int,
    most: int,
    names: Sequence[str],
    played: Conversation | None,
    report: Callable[[FoundDifference], None],
) -> list[FoundDifference]:
    """Raises TargetError, BrokerMisbehaved."""
    infos = [probe(started.enter_context(target)) for target in targets]
    served = [_served(info) for info in infos]
    one, other = [
        started.enter_context(
            Player(info.spec, info.addresses[0], ranges, answer_limit_ms(info.time_scale),
                   info.name_prefix + "diff")
        )
        for info, ranges in zip(infos, served, strict=True)
    ]  # fmt: skip
    comparison = ConversationComparison((one, other), infos[0].name_prefix)
    started.callback(comparison.close)
    if played is not None:
        repeated = comparison.compare_once(played)
        if repeated is not None:
            report(repeated)
        return [repeated] if repeated else []
    shared = shared_versions(*served)
    for name in names:
        if name not in shared:
            raise click.UsageError(f"--api: {name!r} is not served by both, or may do harm")
    made = conversations(seed, shared, names)
    with _progress() as progress:
        task = progress.add_task(f"seed {seed}", total=exchanges)

        def tell(counted: ComparedCounts, one: FoundDifference | None) -> None:
            progress.update(task, completed=min(exchanges, counted.exchanges.total()))
            if one is not None:
                report(one)

        found = compare_many(comparison, made, exchanges, most, tell)
    _show(comparison.counted, shared, infos, served)
    return found


def _served(info: TargetInfo) -> Mapping[int, VersionRange]:
    """Return the advertised versions, without placeholders that are not served."""
    shown = {key: VersionRange(*pair) for key, pair in info.api_versions.items()}
    return served_ranges(shown)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    told = TextColumn("exchanges")
    return Progress(*columns, told, console=Console(stderr=True), redirect_stdout=False)


# -- what is shown ---------------------------------------------------------------------------------


def _show(
    counted: ComparedCounts,
    shared: Ranges,
    infos: Sequence[TargetInfo],
    served: Sequence[Mapping[int, VersionRange]],
) -> None:
    screen = Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH)
    table = Table("API", "exchanges", "at each version", title="compared")
    for name, versions in shared.items():
        counts = [counted.exchanges[name, version] for version in versions]
        each = " ".join(f"v{v}:{n}" for v, n in zip(versions, counts, strict=True))
        table.add_row(name, str(sum(counts)), each)
    screen.print(table)
    for here, there in ((0, 1), (1, 0)):
        lines = [f"{name} {ranges}" for name, ranges in _only_one(served[here], served[there])]
        if lines:
            text = f"only {infos[here].spec}: {', '.join(lines)}"
            screen.print(text, markup=False, highlight=False, soft_wrap=True)
    left_out = sorted(
        APIS[key].name for key in served[0].keys() & served[1].keys() & APIS.keys()
        if safety_of(APIS[key].name) is Safety.DESTRUCTIVE
    )  # fmt: skip
    if left_out:
        screen.print(f"both, and not asked because it may do harm: {', '.join(left_out)}",
                     highlight=False, soft_wrap=True)  # fmt: skip
    seen = ", ".join(f"{reason} ({n})" for reason, n in counted.explained.most_common())
    click.echo(
        f"{counted.exchanges.total()} exchanges in {counted.conversations} conversations"
        + (f"; explained differences: {seen}" if seen else "")
    )


def _only_one(
    here: Mapping[int, VersionRange], there: Mapping[int, VersionRange]
) -> Iterator[tuple[str, str]]:
    """APIs and versions that the other side does not serve."""
    for key, versions in here.items():
        if key in APIS:
            lacking = [version for version in versions if version not in there.get(key, ())]
            if lacking:
                yield APIS[key].name, _runs(lacking)


def _runs(versions: Sequence[int]) -> str:
    grouped = groupby(enumerate(versions), key=lambda pair: pair[1] - pair[0])
    runs = [[version for _, version in group] for _, group in grouped]
    return ",".join(str(VersionRange(run[0], run[-1])) for run in runs)


def _write(found: FoundDifference, out: Path, place: int) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{place}-{found.difference.api}.json"
    file.write_text(to_json(found.conversation), "utf-8")
    return file


def _tell(found: FoundDifference, specs: Sequence[str], file: Path) -> None:
    one = found.difference
    seen = "" if found.repeats else ", seen once: it did not repeat"
    click.echo(f"\n{one.api} v{one.version}, step {one.step}: {one.path} differs{seen}")
    for place, step in enumerate(found.conversation.steps):
        click.echo(f"  {place}  {step}")
    for spec, value, answer in zip(specs, one.values, found.answers, strict=True):
        click.echo(f"  {spec}: {json.dumps(value)}")
        said = json.dumps(answer.raw) if answer.raw is not None else f"{answer.how}: {answer.note}"
        click.echo(f"    {said}")
    again = " ".join(f"--target {spec}" for spec in specs)
    click.echo(f"  again: kafka-conformance diff {again} --play {file}")

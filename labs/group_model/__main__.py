"""``kafka-conformance lab group-model``: random steps with a group at two brokers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from harness.client.errors import BrokerMisbehaved
from harness.targets.errors import TargetError
from labs.group_model.playing import PlayCounts
from labs.group_model.run import GroupResult, run, run_all_sequences
from labs.group_model.servers import server

EXIT_OK, EXIT_DIFFERENT, EXIT_NOT_COMPARED = 0, 1, 3


@click.command()
@click.option("--target", "specs", multiple=True, default=("reference", "kafka:4.4.0"),
              show_default=True, metavar="SPEC",
              help="Two brokers that are started for this.")  # fmt: skip
@click.option("--examples", default=100, show_default=True, type=click.IntRange(1))
@click.option("--steps", default=20, show_default=True, type=click.IntRange(1),
              help="The most of an example.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Of all examples.")
def main(specs: tuple[str, ...], examples: int, steps: int, seed: int) -> None:
    """Play the same steps with a group at both brokers, and show the first difference.

    Exit 0: no difference; 1: one, with the fewest steps that show it; 2: usage; 3: no broker.
    """
    if len(specs) != 2:
        raise click.UsageError(f"two targets are compared, not {len(specs)}")
    try:
        clean = _run(specs, examples, steps, seed)
    except (TargetError, BrokerMisbehaved) as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(EXIT_NOT_COMPARED)
    sys.exit(EXIT_OK if clean else EXIT_DIFFERENT)


def _run(specs: Sequence[str], examples: int, steps: int, seed: int) -> bool:
    """Return True if there was no difference."""
    with TemporaryDirectory(prefix="kafka-conformance-groups-") as logs, ExitStack() as stack:
        one, other = (
            stack.enter_context(server(spec, Path(logs) / str(place)))
            for place, spec in enumerate(specs)
        )
        clean = run_all_sequences((one, other), _tell_sequence)
        result = run((one, other), examples, steps, seed)
    _tell(result.counts, specs, seed)
    _tell_difference(result)
    return clean and result.difference is None


def _tell_sequence(name: str, result: GroupResult) -> None:
    given_up = f" (given up: {', '.join(result.counts.given_up)})" if result.counts.given_up else ""
    click.echo(f"{name}: {'they differ' if result.difference else 'alike'}{given_up}")
    _tell_difference(result)


def _tell_difference(result: GroupResult) -> None:
    if result.difference is not None:
        click.echo("" if result.repeats else "seen once; it did not repeat:")
        click.echo(result.difference)


def _tell(counts: PlayCounts, specs: Sequence[str], seed: int) -> None:
    click.echo(f"{' and '.join(specs)}, seed {seed}: {counts.plays} examples, "
               f"{counts.steps.total()} steps, {counts.requests.total()} requests to each, "
               f"{counts.replays} plays again until both chose the same leader")  # fmt: skip
    for api in sorted({name for name, _ in counts.requests}):
        told = sorted((v, n) for (name, v), n in counts.requests.items() if name == api)
        click.echo(f"  {api}: " + " ".join(f"v{version}:{count}" for version, count in told))
    click.echo("  steps: " + ", ".join(f"{name} {n}" for name, n in counts.steps.most_common()))
    states = sorted(counts.states.items(), key=str)
    click.echo("  states: " + ", ".join(f"{state} of {n}: {count}" for (state, n), count in states))
    for api in sorted({name for name, _ in counts.errors}):
        errors = [(error, n) for (name, error), n in sorted(counts.errors.items()) if name == api]
        click.echo(f"  {api}: " + ", ".join(f"{error} {n}" for error, n in errors))
    click.echo(f"  {counts.expired} sessions ended, {counts.deadlines} rebalances were over time")
    for reason, count in counts.given_up.items():
        click.echo(f"  {count} examples given up: {reason}")


if __name__ == "__main__":
    main()

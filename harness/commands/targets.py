"""``kafka-conformance targets``: what can be judged, and what each kind lets a test do."""

from __future__ import annotations

import json

import click

from harness.targets.artifacts import pinned_releases
from harness.targets.kafka.release import JUDGED
from harness.targets.spec import target_kinds
from harness.targets.target import CAPABILITIES


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def targets(as_json: bool) -> None:
    """List the forms of a target string, the options and the capabilities of each."""
    kinds = target_kinds()
    if as_json:
        rows = [
            {"form": k.form, "example": k.example, "meaning": k.meaning}
            | {"options": dict(k.options), "capabilities": sorted(k.capabilities)}
            for k in kinds
        ]
        click.echo(json.dumps({"targets": rows, "kafka_releases": pinned_releases()}))
        return
    for kind in kinds:
        click.echo(f"{kind.form}\n    {kind.meaning}\n    for example: {kind.example}")
        for name, meaning in kind.options.items():
            click.echo(f"    option {name}: {meaning}")
        click.echo(f"    capabilities: {', '.join(sorted(kind.capabilities)) or 'none'}\n")
    click.echo(f"Kafka releases: {', '.join(pinned_releases())}\n")
    click.echo(f"of each minor line a range over several lines takes: {', '.join(JUDGED)}\n")
    click.echo("Capabilities:")
    for name, meaning in CAPABILITIES.items():
        click.echo(f"    {name}: {meaning}")

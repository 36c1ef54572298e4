"""``kafka-conformance lab null-forms``: observe the nullable fields of responses of Apache Kafka.

Each target gets requests of every API with nullable fields, at every version, with errors and
without; ``harness/oracle/nullable_fields.tsv`` gets the forms of these fields.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path

import click

from harness.base.address import Address
from harness.conformance.kafka_name import PREFIX, kafka_name
from harness.oracle.null_forms import apis_with_nullable_fields, forms_in
from harness.oracle.null_play import NullConversations
from harness.oracle.null_table import NULL_TABLE, null_table, write_null_table
from harness.targets.info import probe
from harness.targets.spec import parse_target
from labs.null_forms.observed_forms import ObservedForms
from labs.null_forms.page import PAGE, page_text

TARGETS = (
    *(
        "kafka:0.10.2.2",
        "kafka:1.1.1",
        "kafka:2.8.2",
        "kafka:3.9.2,mode=zk",
        "kafka:3.9.2,mode=kraft",
    ),
    "kafka:4.4.0",
)
APIS = apis_with_nullable_fields()
NODE = 1
"""The id of the broker of such a target."""


@click.command()
@click.option("--target", "targets", multiple=True, default=TARGETS, show_default=True,
              help="An Apache Kafka. May be repeated; what others sent stays.")  # fmt: skip
@click.option("--api", "apis", multiple=True, type=click.Choice(APIS), metavar="NAME",
              help="Only this API; the others stay. May be repeated.")  # fmt: skip
@click.option("--exchanges", default=150, show_default=True, type=click.IntRange(0),
              help="Drawn requests for each API, beside the fixed ones.")  # fmt: skip
def main(targets: tuple[str, ...], apis: tuple[str, ...], exchanges: int) -> None:
    """Observe null, empty and values in the nullable fields of the responses of Apache Kafka."""
    for target in targets:
        if kafka_name(target) is None:
            raise click.BadParameter(f"{target!r}: only Apache Kafka is observed, as kafka:4.4.0")
    observed = ObservedForms(null_table().values() if NULL_TABLE.exists() else ())
    for target in targets:
        _observe(target, apis or APIS, exchanges, observed)
    rows = observed.rows()
    write_null_table(rows)
    PAGE.write_text(page_text(PAGE.read_text("utf-8"), rows), encoding="utf-8", newline="\n")
    click.echo(f"{NULL_TABLE}, {PAGE}: {len(rows)} lines")


def _observe(target: str, apis: Collection[str], exchanges: int, observed: ObservedForms) -> None:
    name = target.removeprefix(PREFIX)
    observed.forget(name, apis)
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-null-") as logs, ExitStack() as up:
        info = probe(up.enter_context(parse_target(target, log_dir=Path(logs))))
        address = Address(*info.addresses[0])
        broker = up.enter_context(NullConversations(info, address, NODE, "null-forms"))
        for api in (one for one in apis if one in broker.served):
            count = 0
            for step, response in broker.responses(api, exchanges, drawn=True):
                observed.add(name, step, forms_in(step, response))
                count += 1
            click.echo(f"{target}: {api}, {count} responses")


if __name__ == "__main__":
    main()

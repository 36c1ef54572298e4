"""``kafka-conformance codec decode``: bytes by hand, to a tree or to JSON."""

from __future__ import annotations

from typing import Any

import click

from harness.codec.errors import CodecError
from harness.commands.codec.attempts import Attempt
from harness.commands.codec.choose_attempt import chosen_attempt
from harness.commands.codec.input_forms.table import FORM_NAMES
from harness.commands.codec.input_source import readings_of
from harness.commands.codec.message_options import MessageChoice, message_options


@click.command("decode")
@message_options
@click.option("--topic", metavar="NAME", help="The topic of records, to decode Kafka's own ones.")
@click.option("--input", "form", type=click.Choice(FORM_NAMES),
              help="The form of the input, where it could be several.")  # fmt: skip
@click.option("--frames/--no-frames", default=None,
              help="Four bytes of length precede each message, or none do.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the form that codec encode takes.")
@click.argument("data", metavar="TEXT|-|FILE", default="-")
def decode_command(
    data: str, form: str | None, frames: bool | None, as_json: bool, **options: Any
) -> None:
    """Decode messages or record batches, field by field.

    Prints a tree with offset, hex and value of every field. Give the bytes as TEXT, or on
    standard input (-) or in a FILE: hex digits with or without blanks, colons and 0x, dumps of xxd
    and hexdump -C, decimal numbers, Base64, literals of Python, Java and C, or the bytes
    themselves. One message, or several with their lengths. The first line says what the input was
    taken for. For malformed bytes, prints the tree up to there and an error with their offset;
    the exit code is then 1. What can be read in several ways is an error that lists them; the exit
    code is then 2.

    \b
      codec decode FILE                                 requests with header, or records
      codec decode --api Fetch --version 12 --kind response HEX
      codec decode --name ConsumerProtocolSubscription --version 1 HEX
      codec decode --kind records HEX                   batches and message sets
      codec decode --kind records --topic __consumer_offsets FILE
    """
    asked = MessageChoice(**options)
    if not (asked.is_open or asked.is_records or asked.header_tells):
        asked.parts()  # wrong options are an error whatever the bytes are
    _show(chosen_attempt(readings_of(data, form), asked, frames), as_json)


def _show(attempt: Attempt, as_json: bool) -> None:
    """Print the tree as far as it goes, or JSON. Raises ClickException for malformed bytes."""
    click.echo(f"input: {attempt.said}", err=as_json)
    try:
        if not as_json:
            for text in attempt.tree():
                click.echo(text)
        if attempt.problem is not None:
            raise attempt.problem
        if as_json:
            click.echo(attempt.json_text())
    except CodecError as error:
        raise click.ClickException(f"{type(error).__name__}: {error}") from error

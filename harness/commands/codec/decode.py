"""``kafka-conformance codec decode``: bytes by hand, to a tree or to JSON."""

from __future__ import annotations

import json
from typing import Any

import click

from harness.codec.dictionary_form import to_dict
from harness.codec.errors import CodecError
from harness.codec.header import decode_request_header
from harness.codec.trace import Traced, trace
from harness.codec.trace_text import trace_lines
from harness.commands.codec.message_options import (
    MessageChoice,
    MessagePart,
    message_options,
    read_bytes,
)


@click.command("decode")
@message_options
@click.option("--json", "as_json", is_flag=True, help="Print the form that codec encode takes.")
@click.argument("data", metavar="HEX|-|FILE", default="-")
def decode_command(data: str, as_json: bool, **options: Any) -> None:
    """Decode a message or record batches, field by field.

    Prints a tree with offset, hex and value of every field. Give the bytes as HEX digits, or on
    standard input (-) or in a FILE, as hex digits or raw. For malformed bytes, prints the tree up
    to there and an error with their offset; the exit code is then 1.

    \b
      codec decode --api Fetch --version 12 --kind response HEX
      codec decode --kind request --with-header HEX     any request: its header says which
      codec decode --name ConsumerProtocolSubscription --version 1 HEX
      codec decode --kind records HEX                   batches and message sets
    """
    asked = MessageChoice(**options)
    raw = read_bytes(data)
    try:
        if asked.is_records:
            _show_records(raw, as_json)
        else:
            _show(_parts_in(asked, raw), raw, as_json)
    except CodecError as error:
        raise click.ClickException(f"{type(error).__name__}: {error}") from error


def _show(parts: list[MessagePart], raw: bytes, as_json: bool) -> None:
    """Raises CodecError, after the tree where that was asked for."""
    traced, problem = _trace(parts, raw)
    if not as_json:
        _print_tree(parts, traced, raw)
    if problem is not None:
        raise problem
    if as_json:
        click.echo(json.dumps(_json_form(parts, traced), indent=2))


def _show_records(raw: bytes, as_json: bool) -> None:
    """Raises the CodecError of the first batch that is damaged, after the tree."""
    from harness.codec.records.value_form import records_value
    from harness.codec.records_text import records_lines

    if not as_json:
        for text in records_lines(raw, 0, len(raw), 0):
            click.echo(text)
    value = records_value(raw)
    if as_json:
        click.echo(json.dumps(value, indent=2))


def _parts_in(asked: MessageChoice, raw: bytes) -> list[MessagePart]:
    if not asked.header_tells:
        return asked.parts()
    header, _ = decode_request_header(raw)
    return asked.of_request(header.request_api_key, header.request_api_version)


def _trace(parts: list[MessagePart], raw: bytes) -> tuple[list[Traced], CodecError | None]:
    """One tree a part, up to the first that is wrong."""
    found: list[Traced] = []
    offset = 0
    for part in parts:
        whole = part is parts[-1]
        one = trace(part.cls, part.version, raw, offset, whole=whole)
        found.append(one)
        if one.error is not None:
            return found, one.error
        offset = one.root.stop
    return found, None


def _json_form(parts: list[MessagePart], traced: list[Traced]) -> dict[str, Any]:
    """The value alone, or header and body by name."""
    forms = {
        part.role: to_dict(one.message, part.version)
        for part, one in zip(parts, traced, strict=True)
    }
    return forms if len(forms) > 1 else next(iter(forms.values()))


def _print_tree(parts: list[MessagePart], traced: list[Traced], raw: bytes) -> None:
    for part, one in zip(parts, traced, strict=False):
        size = one.root.stop - one.root.offset
        click.echo(f"{part.cls.__name__} v{part.version}, {size} bytes")
        for text in trace_lines(one.root, raw):
            click.echo(text)

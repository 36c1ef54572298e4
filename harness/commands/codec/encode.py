"""``kafka-conformance codec encode``: JSON by hand, to bytes in hex."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from harness.codec.dictionary_form import from_dict
from harness.codec.errors import CodecError
from harness.codec.message_codec import encode
from harness.commands.codec.message_options import MessageChoice, MessagePart, message_options


@click.command("encode")
@message_options
@click.argument("text", metavar="JSON|-|FILE", default="-")
def encode_command(text: str, **options: Any) -> None:
    """Make the bytes of a message from JSON.

    Takes what codec decode --json prints, and prints hex. Fields that are left out take their
    default. With --with-header the JSON holds "header" and "body"; of a request the header may
    then say which it is.

    \b
      codec encode --api Metadata --version 4 '{"topics": [{"name": "t"}]}'
    """
    asked = MessageChoice(**options)
    values = read_json(text)
    try:
        made = _records(values) if asked.is_records else _messages(asked, values)
    except CodecError as error:
        raise click.ClickException(f"{type(error).__name__}: {error}") from error
    click.echo(made.hex())


def _records(values: Any) -> bytes:
    from harness.codec.records.value_form import records_bytes

    if not isinstance(values, list):
        raise click.UsageError("with --kind records the JSON is a list of batches")
    for record in (one for batch in values for one in _records_in(batch)):
        record.pop("decoded", None)  # codec decode --topic adds it for people
    return records_bytes(values)


def _records_in(batch: Any) -> list[dict[str, Any]]:
    """Return what can be a record in a value that may be no batch."""
    records = batch.get("records") if isinstance(batch, dict) else None
    return [one for one in records if isinstance(one, dict)] if isinstance(records, list) else []


def _messages(asked: MessageChoice, values: Any) -> bytes:
    parts = _parts_of(asked, values)
    forms = [values[part.role] if asked.with_header else values for part in parts]
    return b"".join(
        encode(from_dict(part.cls, part.version, form), part.version)
        for part, form in zip(parts, forms, strict=True)
    )


def read_json(text: str) -> Any:
    """The value of JSON, of a file with it, or of standard input (`-`). Raises UsageError."""
    if text == "-":
        text = sys.stdin.read()
    elif not text.lstrip().startswith(("{", "[")):
        try:
            text = Path(text).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise click.UsageError(f"neither JSON nor a file: {text[:80]}") from error
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"not JSON: {error}") from error


def _parts_of(asked: MessageChoice, values: Any) -> list[MessagePart]:
    if asked.with_header and not (isinstance(values, dict) and set(values) == {"header", "body"}):
        raise click.UsageError('with --with-header the JSON is {"header": {...}, "body": {...}}')
    if not asked.header_tells:
        return asked.parts()
    header = values["header"]
    try:
        key, version = header["request_api_key"], header["request_api_version"]
    except (TypeError, KeyError) as error:
        raise click.UsageError("the header lacks request_api_key or request_api_version") from error
    if type(key) is not int or type(version) is not int:
        raise click.UsageError("request_api_key and request_api_version are integers")
    return asked.of_request(key, version)

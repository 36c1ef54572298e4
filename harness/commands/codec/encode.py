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
from harness.commands.codec.message_options import Asked, Part, message_options


@click.command("encode")
@message_options
@click.argument("text", metavar="JSON|-|FILE", default="-")
def encode_command(text: str, **options: Any) -> None:
    r"""Make the bytes of a message, in hex, from the JSON that codec decode --json prints.

    Fields that are left out take their default. With --with-header the JSON holds "header" and
    "body"; of a request the header may then say which it is.

    \b
      codec encode --api Metadata --version 4 '{"topics": [{"name": "t"}]}'
    """
    asked = Asked(**options)
    values = _json(text)
    try:
        parts = _parts_of(asked, values)
        forms = {part.role: values[part.role] for part in parts} if len(parts) > 1 else None
        made = [
            encode(from_dict(part.cls, part.version, forms[part.role] if forms else values),
                   part.version)
            for part in parts
        ]  # fmt: skip
    except CodecError as error:
        raise click.ClickException(str(error)) from error
    click.echo(b"".join(made).hex())


def _json(text: str) -> Any:
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


def _parts_of(asked: Asked, values: Any) -> list[Part]:
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

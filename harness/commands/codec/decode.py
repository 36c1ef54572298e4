"""``kafka-conformance codec decode`` and ``encode``: bytes to JSON and back, by hand."""

from __future__ import annotations

import json
import sys

import click

from harness.codec import CodecError, decode, decode_prefix, encode
from harness.codec.apis import api_for_key
from harness.codec.header import decode_request_header
from harness.codec.json_form import from_json, to_json
from harness.codec.messages import message_class, message_names
from harness.codec.structs import Message


@click.command("decode")
@click.argument("message", metavar="MESSAGE")
@click.argument("version", type=int)
@click.argument("data", metavar="HEX", default="-")
def decode_command(message: str, version: int, data: str) -> None:
    """Decode the body of MESSAGE at VERSION from HEX (- reads standard input) to JSON.

    MESSAGE is a name such as FetchResponse; `request` decodes header and body of any request
    (VERSION is then ignored, the header tells it).
    """
    raw = _bytes(sys.stdin.read() if data == "-" else data)
    try:
        if message == "request":
            click.echo(json.dumps(_request(raw), indent=2))
        else:
            click.echo(json.dumps(to_json(decode(_class(message), version, raw)), indent=2))
    except CodecError as error:
        raise click.ClickException(str(error)) from error


@click.command("encode")
@click.argument("message", metavar="MESSAGE")
@click.argument("version", type=int)
@click.argument("text", metavar="JSON", default="-")
def encode_command(message: str, version: int, text: str) -> None:
    """Encode JSON (- reads standard input) as the body of MESSAGE at VERSION, in hex."""
    try:
        values = json.loads(sys.stdin.read() if text == "-" else text)
    except json.JSONDecodeError as error:
        raise click.UsageError(f"not JSON: {error}") from error
    try:
        click.echo(encode(from_json(_class(message), values), version).hex())
    except CodecError as error:
        raise click.ClickException(str(error)) from error


def _class(name: str) -> type[Message]:
    if name not in message_names():
        raise click.UsageError(f"no message {name!r}; there are: {', '.join(message_names())}")
    return message_class(name)


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex("".join(text.split()))
    except ValueError as error:
        raise click.UsageError(f"not hex digits: {error}") from error


def _request(raw: bytes) -> dict[str, object]:
    header, start = decode_request_header(raw)
    api = api_for_key(header.request_api_key)
    body, end = decode_prefix(api.request, header.request_api_version, raw, start)
    return {
        "api": api.name,
        "header": to_json(header),
        "body": to_json(body),
        "bytes_left_over": len(raw) - end,
    }

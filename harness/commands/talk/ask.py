"""``kafka-conformance talk ask``: one request from JSON, and its response as JSON."""

from __future__ import annotations

import json
from typing import Any

import click

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import Api
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.errors import CodecError
from harness.codec.structs import Message
from harness.commands.codec.encode import read_json
from harness.commands.known_api import known_api
from harness.commands.talk.opened import opened, target_option


@click.command("ask")
@target_option
@click.option("--version", type=int, help="Of the request; else the highest that both know.")
@click.option("--node", type=int, metavar="ID", help="Ask this broker; else the first address.")
@click.argument("api_name", metavar="API")
@click.argument("text", metavar="[JSON|-|FILE]", default="{}")
def ask_command(spec: str, version: int | None, node: int | None, api_name: str, text: str) -> None:
    """Send one request of API and print the response.

    The JSON is what `codec encode` takes: fields that are left out take their default. A version
    that the broker does not advertise is sent when --version names it. An error code is an answer.

    Exit 0: an answer; 1: none, or a wrong one; 2: usage; 3: the target could not be asked.

    \b
      talk ask --target external:127.0.0.1:9092 Metadata '{"topics": [{"name": "t"}]}'
    """
    api, values = known_api(api_name, "API"), read_json(text)
    if version is not None and version not in api.request.message_spec.valid:
        raise click.BadParameter(
            f"{api.name} has versions {api.request.message_spec.valid}", param_hint="--version"
        )
    with opened(spec) as target:
        client = target.at(node)
        used = client.version(api.name) if version is None else version
        answer = _answer(client, _request(api, used, values), used)
    click.echo(f"{api.name} v{used} to {client.address}", err=True)
    if answer is not None:
        click.echo(json.dumps(to_dict(answer, used), indent=2, ensure_ascii=False))


def _request(api: Api, version: int, values: Any) -> Message:
    try:
        return from_dict(api.request, version, values)
    except CodecError as problem:
        raise click.UsageError(f"{api.name} v{version}: {problem}") from problem


def _answer(client: BrokerUnderTest, request: Message, version: int) -> Message | None:
    """The response; None to a request without one."""
    connection = client.connect()
    connection.send(request, version)
    if connection.awaits_answer:
        return connection.receive()
    connection.end_sending()
    return None

"""``kafka-conformance codec describe``: what a message looks like, at one version or over all."""

from __future__ import annotations

from typing import Any

import click

from harness.base.suggestion import did_you_mean
from harness.codec.apis import APIS, Api, api_of
from harness.codec.describe import changes, layout_lines
from harness.codec.docstring import message_head
from harness.codec.errors import DefinitionError
from harness.codec.first_releases import first_releases
from harness.codec.messages import message_class, message_names, older_releases
from harness.codec.structs import Message
from harness.commands.codec.message_options import class_at


@click.command("describe")
@click.argument("name")
@click.argument("version", type=int, required=False)
@click.option("--kind", type=click.Choice(["request", "response"]), help="One half of an API.")
@click.option("--source", is_flag=True, help="Print the generated decoder and encoder.")
@click.option("--release", metavar="R", help="As this release of Kafka spoke it, such as 2.7.")
def describe_command(
    name: str, version: int | None, kind: str | None, source: bool, release: str | None
) -> None:
    """Show the layout of a message, or its history.

    At VERSION field by field, in the order of the wire; without VERSION what each one changed.
    NAME is an API (Fetch), a message (FetchResponse) or any other schema
    (ConsumerProtocolSubscription).
    """
    if source and version is None:
        raise click.UsageError("--source is the code of one version: name it")
    for cls in _classes(name, kind, release):
        _require(cls, version)
        try:
            if version is None:
                _print_versions(cls)
            elif source:
                _print_source(cls, version)
            else:
                _print_layout(cls, version, release)
        except DefinitionError as problem:
            raise click.ClickException(str(problem)) from problem


def _classes(name: str, kind: str | None, release: str | None) -> list[type[Message]]:
    by_name = {api.name.lower(): api for api in APIS.values()}
    by_key = {str(api.key): api for api in APIS.values()}
    api = by_key.get(name) or by_name.get(name.lower())
    if api is not None:
        kinds = [kind] if kind else ["request", "response"]
        return [class_at(f"{api.name}{one.title()}", release) for one in kinds]
    if name not in message_names():
        near = did_you_mean(name, [*message_names(), *(one.name for one in APIS.values())])
        raise click.UsageError(f"no API or message {name!r}{near}; codec list --all shows them")
    cls = class_at(name, release)
    if kind and cls.message_spec.type != kind:
        raise click.UsageError(f"{name} is no {kind}: leave --kind out")
    return [cls]


def _require(cls: type[Message], version: int | None) -> None:
    valid = cls.message_spec.valid
    if version is not None and version not in valid:
        raise click.UsageError(f"{cls.__name__} has versions {valid}, not {version}")


def _print_versions(cls: type[Message]) -> None:
    spec = cls.message_spec
    api = api_of(cls) if spec.type in ("request", "response") else None
    click.echo(message_head(spec))
    if cls is message_class(spec.name):
        for release in older_releases(spec.name):
            click.echo(f"  other bytes up to release {release}: --release {release}")
    else:
        api = None  # the releases of the table spoke the other layout, too
    for version in spec.valid:
        words = [] if api is None else [f"{first_releases(api.key)[version].release:<7}"]
        if version == spec.valid.lowest:
            words.append("the first")
        else:
            words.append("; ".join(changes(spec, version)) or f"same layout as v{version - 1}")
        click.echo(f"  v{version:<3} {' '.join(words)}")


def _print_layout(cls: type[Message], version: int, release: str | None) -> None:
    spec = cls.message_spec
    facts = ["flexible" if version in spec.flexible else "not flexible"]
    if spec.type in ("request", "response"):
        facts += _of_api(api_of(cls), spec.type, version)
    if cls is not message_class(spec.name):
        facts.append(f"as release {release} spoke it")
    elif spec.type in ("request", "response"):
        since = first_releases(api_of(cls).key)[version].release
        facts.append(f"first released in {since}")
    click.echo(f"{spec.name} v{version}: {', '.join(facts)}")
    for line in layout_lines(spec, version):
        click.echo(f"  {line}")


def _of_api(api: Api, kind: str, version: int) -> list[str]:
    header: Any = getattr(api, f"{kind}_header_version")(version)
    return [f"API key {api.key}", f"{kind} header v{header}"]


def _print_source(cls: type[Message], version: int) -> None:
    from harness.codec.generated_source import decoder_source, encoder_source

    click.echo(f"# decoder of {cls.__name__} v{version}\n{decoder_source(cls, version)}")
    click.echo(f"# encoder of {cls.__name__} v{version}\n{encoder_source(cls, version)}")
